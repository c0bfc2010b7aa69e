"""Values of custom attributes in a builder or a model: of rows such as `mujoco:actuator`, and of degrees of freedom."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np


def numbers(of: newton.ModelBuilder | newton.Model, key: str) -> np.ndarray:
    """Return the values of an attribute, shape [rows, ...]; empty if it is not registered."""
    found = _values(of, key)
    return found.numpy() if hasattr(found, "numpy") else np.array([np.array(value) for value in found])


def dof_numbers(of: newton.ModelBuilder | newton.Model, key: str) -> np.ndarray:
    """Return the values of an attribute of degrees of freedom, shape [DOFs]; zeros if it is not registered."""
    if not isinstance(of, newton.ModelBuilder):
        found = numbers(of, key)
        return found if len(found) else np.zeros(of.joint_dof_count)
    attribute: Any = of.custom_attributes.get(key)
    default, stored = (0.0, {}) if attribute is None else (attribute.default, attribute.values or {})
    return np.array([stored.get(dof, default) for dof in range(of.joint_dof_count)])


def texts(of: newton.ModelBuilder | newton.Model, key: str) -> list[str]:
    """Return the values of an attribute that holds texts."""
    return list(_values(of, key))


def write(builder: newton.ModelBuilder, key: str, row: int, value: Any) -> None:
    """Set an attribute of one row of a builder; None stands for zero."""
    attribute: Any = builder.custom_attributes[key]
    values = list(_values(builder, key))
    values += [attribute.default] * (row + 1 - len(values))  # a file that gives no row a value leaves no rows
    values[row] = attribute.dtype(0) if value is None else attribute.dtype(value)
    attribute.values = values


def _values(of: newton.ModelBuilder | newton.Model, key: str) -> Any:
    if not isinstance(of, newton.ModelBuilder):  # a model, or a solver's part of one
        namespace, _, name = key.partition(":")
        found = getattr(getattr(of, namespace, None), name, None)
        return () if found is None else found
    attribute: Any = of.custom_attributes.get(key)
    if attribute is None:
        return ()
    values = attribute.values or ()
    return [attribute.default if value is None else value for value in values]
