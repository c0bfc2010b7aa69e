"""The table of quantities, the methods of the views and their docstrings say the same."""

import ast
import inspect
from pathlib import Path

import newton
import pippin.views
import pytest
from pippin.views import ARTICULATION, RIGID_BODY, ArticulationView, CableView, ParticleView, RigidBodyView
from pippin.views.quantities import CABLE, PARTICLES

TABLES = {ArticulationView: ARTICULATION, RigidBodyView: RIGID_BODY, ParticleView: PARTICLES, CableView: CABLE}
CASES = [(view, quantity) for view, table in TABLES.items() for quantity in table.values()]
IDS = [f"{view.__name__}.{quantity.name}" for view, quantity in CASES]


@pytest.mark.parametrize(("view", "quantity"), CASES, ids=IDS)
def test_there_is_a_method_for_what_can_be_got_and_set(view, quantity):
    assert callable(getattr(view, f"get_{quantity.name}"))
    assert hasattr(view, f"set_{quantity.name}") == quantity.is_settable


@pytest.mark.parametrize(("view", "quantity"), CASES, ids=IDS)
def test_a_docstring_has_meaning_unit_shape_and_frame(view, quantity):
    for prefix in ("get", "set") if quantity.is_settable else ("get",):
        text = " ".join(inspect.getdoc(getattr(view, f"{prefix}_{quantity.name}")).split())
        meaning = quantity.meaning.partition("; ")[0]
        assert meaning.partition(" of ")[0].split()[0] in text
        assert quantity.unit == "1" or quantity.source == "computed" or f"[{quantity.unit}]" in text
        assert "hape [count" in text
        assert quantity.source == "computed" or quantity.frame in text
        assert (prefix == "set" and bool(quantity.flags)) == ("The solver is notified" in text)


def test_flags_are_newtons():
    named = {flag for _, quantity in CASES for flag in quantity.flags}

    assert named <= set(newton.ModelFlags.__members__)
    assert newton.ModelFlags.ALL.name not in named
    assert "JOINT_DOF_PROPERTIES" not in named, "the narrower ones are enough"


def test_no_method_is_without_a_quantity():
    for view, table in TABLES.items():
        setters = {getattr(view, name).__name__ for name in dir(view) if name.startswith("set_")} - {"set_attribute"}
        assert setters == {f"set_{name}" for name, quantity in table.items() if quantity.is_settable}


def test_only_the_table_and_the_methods_named_after_them_mention_quantities():
    names = {quantity.name for _, quantity in CASES}
    folder = Path(pippin.views.__file__).parent
    mentions = set()
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text())
        own = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef) and function.name[4:] in names
            for node in ast.walk(function)
        }
        strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in own)
        mentions |= {(path.name, node.value) for node in strings if node.value in names}

    assert not mentions
