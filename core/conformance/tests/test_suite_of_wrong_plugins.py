"""Plugins of the newer kinds with faults: what the kit tells of them."""

import logging

import pytest
from pippin.studies.progress import RunProgress, log_shown
from pippin_conformance import Conformance

OBJECT = '''
import attrs
from pippin.objects import ObjectConfig, SceneObject

class Thing(SceneObject):
    def add_object(self, builder, place):
        BODY

@attrs.frozen(kw_only=True)
class ThingConfig(ObjectConfig):
    """A thing."""
    implementation = "Thing"
'''
CURRICULUM = '''
import warp as wp
import attrs
from pippin_task import Curriculum

class Rise(Curriculum):
    labels = LABELS
    def __init__(self, config, context):
        super().__init__(config, context)
        self.value = wp.zeros((context.world_count, 1), dtype=float, device=context.device)
    def update(self, finished):
        pass

@attrs.frozen(kw_only=True)
class RiseConfig:
    """A number that rises."""
    implementation = "Rise"
'''
BROKEN = '''
import attrs
import pippin

class Broken:
    def __init__(self, config):
        pass
    @pippin.hookimpl
    def before_substep(self, state):
        raise ValueError("no torso")

@attrs.frozen(kw_only=True)
class BrokenConfig:
    """A plugin that raises."""
    implementation = "Broken"
'''


def kit(folder, kind, text, name, **more):
    (folder / "wrong.py").write_text(text)
    return Conformance(kind, f"{folder / 'wrong.py'}:{name}", **more)


def test_an_object_that_adds_nothing_is_found(tmp_path):
    result = kit(tmp_path, "object", OBJECT.replace("BODY", "pass"), "ThingConfig").run("content")

    assert "adds no body, shape or particle" in result.reason


def test_an_exception_of_an_object_names_the_plugin_and_its_line(tmp_path):
    result = kit(tmp_path, "object", OBJECT.replace("BODY", "{}['torso']"), "ThingConfig").run("content")

    assert result.reason.startswith(f"object 'ThingConfig' of {tmp_path / 'wrong.py'}")
    assert "raised KeyError: 'torso' (wrong.py:7)" in result.reason


def test_an_object_without_its_method_is_named(tmp_path):
    result = kit(tmp_path, "object", OBJECT.replace("add_object", "add"), "ThingConfig").run("content")

    assert result.reason.startswith("object 'ThingConfig' of ")
    assert "abstract method" in result.reason


@pytest.mark.parametrize(("labels", "outcome"), [(("a",), "passed"), (("a", "b"), "failed"), ((), "failed")])
def test_labels_of_a_curriculum_are_those_of_its_values(tmp_path, labels, outcome):
    result = kit(tmp_path, "curriculum", CURRICULUM.replace("LABELS", str(labels)), "RiseConfig").run("labels")

    assert result.outcome == outcome, result.reason


def test_one_cause_is_told_once(tmp_path):
    suite = kit(tmp_path, "plugin", BROKEN, "BrokenConfig")
    failed = {each.check: each.reason for each in suite.results() if each.outcome == "failed"}

    assert "before_substep raised ValueError: no torso" in failed.pop("lifecycle")
    assert len(failed) > 3
    assert set(failed.values()) == {"as lifecycle"}


def test_a_handler_of_the_root_prints_no_progress_again():
    records, root, logger = [], logging.getLogger(), logging.getLogger("pippin.assembly.built")
    handler = logging.Handler()
    handler.emit = records.append
    root.addHandler(handler)
    try:
        with log_shown(RunProgress()):
            logger.info("assets   1.0 s")
        logger.error("told without progress")
    finally:
        root.removeHandler(handler)

    assert [record.getMessage() for record in records] == ["told without progress"]
