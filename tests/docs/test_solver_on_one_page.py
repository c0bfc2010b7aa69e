"""The page for authors of solvers: short, and true: its engine passes the kit, and wrong ones made of it do not."""

import inspect
import re
from pathlib import Path

import newton
import pippin
import pippin_conformance as conformance
import pytest
from pippin.hookspecs import Hooks

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "solver-on-one-page.md"
TEXT = PAGE.read_text(encoding="utf-8")
ENGINE = TEXT.partition("```python\n")[2].partition("```")[0]
WRONG = {
    "efforts of free joints are lost": ("+= control.joint_f.numpy()", "+= 0.0 * control.joint_f.numpy()"),
    "forces act at the origin": (
        "turn(back, force[:, 3:])",
        "turn(back, force[:, 3:] - np.cross(turn(q, com), force[:, :3]))",
    ),
    "the centre of mass is the origin": ("centre + dt", "self.q[:, :3] + dt"),
    "the spin is the body's": ("spin[:] = turn(q, own", "spin[:] = (own"),
    "no gyroscopic torque": ("torque = torque -", "torque = torque - 0.0 *"),
    "worlds that were written are not read": ("written = written_worlds.numpy()", "written = ~written_worlds.numpy()"),
    "gravity of the first world": ("numpy()[self.world]", "numpy()[0]"),
}


def kit(tmp_path, text):
    file = tmp_path / "free.py"
    file.write_text(text, encoding="utf-8")
    return conformance.Conformance("solver", f"{file}:FreeConfig")


def test_the_page_is_short():
    assert len(TEXT.split()) <= 1500


def test_the_page_names_arguments_and_arrays_that_there_are():
    hooks = {name: inspect.signature(hook).parameters for name, hook in inspect.getmembers(Hooks, inspect.isfunction)}
    named = re.findall(r"^\| `(\w+)\(([\w, ]+)\)` \|", TEXT, re.MULTILINE)
    builder = newton.ModelBuilder()
    builder.add_shape_sphere(builder.add_body(), radius=0.1)
    model = builder.finalize(device="cpu")
    owners = {"model": model, "state": model.state(), "control": model.control()}

    assert len(named) == 7
    assert all(set(arguments.split(", ")) <= set(hooks[hook]) for hook, arguments in named)
    assert all(hasattr(owners[owner], array) for owner, array in re.findall(r"`(model|state|control)\.(\w+)`", TEXT))


@pytest.mark.slow
def test_its_engine_passes_the_kit(tmp_path):
    results = kit(tmp_path, ENGINE).check()

    assert sum(result.outcome == "passed" for result in results) >= 32


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_frame_is_found(tmp_path, name):
    right, wrong = WRONG[name]
    assert ENGINE.count(right) == 1

    with pytest.raises(pippin.PluginError):
        kit(tmp_path, ENGINE.replace(right, wrong)).check()
