"""Values of custom attributes in a builder or a model: of rows such as `mujoco:actuator`, and of degrees of freedom."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.errors import ConfigError


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


def typed(dtype: Any, value: float | tuple[float, ...], where: str) -> Any:
    """Return a value of the type of an attribute, from finite numbers.

    Args:
        dtype: The type of the attribute.
        value: A number, or a number for each component.
        where: Key path of the value, for errors.

    Raises:
        ConfigError: The number of components differs, or a whole number is expected.
    """
    wants = getattr(dtype, "_length_", 1)
    components = value if isinstance(value, tuple) else (value,)
    if len(components) != wants:
        raise ConfigError(f"{where}: expected {wants} numbers, got {len(components)}: {list(components)}")
    if wants > 1:
        return dtype(*components)
    number = components[0]
    if dtype not in (wp.float32, wp.float64, float):
        if number != int(number):
            raise ConfigError(f"{where}: expected a whole number, got {number}")
        return dtype(int(number))
    return dtype(number)


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
