"""Terms that are wrong or raise: what names their key, their class and the line of their code."""

import newton
import numpy as np
import pippin
import pytest

TERMS = """
import attrs
from pippin_task import Action, Reward, RewardConfig


@attrs.frozen(kw_only=True)
class PlainConfig(RewardConfig):
    \"\"\"No settings.\"\"\"

    implementation = "Plain"


@attrs.frozen(kw_only=True)
class BrokenConfig(RewardConfig):
    \"\"\"No settings.\"\"\"

    implementation = "Broken"


class Plain:
    def __init__(self, config, context):
        pass


class Broken(Reward):
    def evaluate(self, out):
        raise KeyError("torso")


@attrs.frozen(kw_only=True)
class NamelessConfig:
    \"\"\"No settings.\"\"\"

    implementation = "Nameless"


class Nameless(Action):
    def apply(self, action):
        pass
"""


@pytest.fixture
def live(tmp_path):
    """Return a function that builds and steps a simulation with a class of the file above as its term."""
    (tmp_path / "terms.py").write_text(TERMS)

    def run(name, table="rewards"):
        builder = newton.ModelBuilder(up_axis="Z")
        builder.add_body(label="ball", mass=1.0, inertia=np.eye(3))
        term = {"type": f"{tmp_path}/terms.py:{name}"} | ({"weight": 1.0} if table == "rewards" else {})
        tables = {"simulation": {"device": "cpu"}, "solver": {"type": "xpbd"}, "task": {table: {"high": term}}}
        with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
            simulation.step()

    return run


def test_a_term_without_the_base_class_is_refused_with_it(live):
    with pytest.raises(
        pippin.PluginError, match=r"^task\.rewards\.high: .*: Plain is not a pippin_task\.Reward; derive it"
    ):
        live("PlainConfig")


def test_a_term_that_raises_in_a_step_is_named_with_its_line(live):
    told = r"^task\.rewards\.high: evaluate raised KeyError: 'torso' \(.*terms\.py:\d+\); correct the plugin"

    with pytest.raises(pippin.PluginError, match=told) as raised:
        live("BrokenConfig")

    assert isinstance(raised.value.__cause__, KeyError)


def test_a_term_without_labels_is_refused_with_the_cure(live):
    with pytest.raises(
        pippin.PluginError, match=r"^task\.actions\.high: .*: Nameless has no `labels`; set them in its constructor$"
    ):
        live("NamelessConfig", table="actions")
