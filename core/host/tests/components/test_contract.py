"""Hooks that plugins specify for each other: who answers, what is refused."""

import pippin
import pytest
from pippin import PluginError
from pippin.catalog.entries import Catalog
from pippin.components.contract import hook_faults
from pippin.components.registry import Components


class Bells:
    @pippin.hookspec
    def ring(self, count):
        """Ring a number of times."""

    @pippin.hookspec(firstresult=True)
    def loudest(self):
        """Return a name."""


class Tower:
    """Specifies the hooks, and is not a bell itself."""

    hookspecs = Bells

    @pippin.hookimpl
    def close(self):
        pass


class Bell:
    def __init__(self, name="bell"):
        self.name, self.rung = name, 0

    @pippin.hookimpl(optionalhook=True)
    def ring(self, count):
        self.rung += count
        return self.name

    @pippin.hookimpl(optionalhook=True)
    def loudest(self):
        return self.name


def components(*plugins):
    """Return the components of a simulation with plugin objects only."""
    return Components(pippin.structure({}), plugins, Catalog.installed())


def test_components_answer_in_calling_order_wherever_the_specification_is():
    small, large = Bell("small"), Bell("large")

    found = components(small, Tower(), large)

    assert found.call_own("ring", count=2) == ["small", "large"]
    assert found.call_own("loudest") == "small"
    assert (small.rung, large.rung) == (2, 2)


def test_two_towers_share_the_hooks_of_their_class():
    assert components(Tower(), Tower(), Bell()).call_own("ring", count=1) == ["bell"]


def test_an_answer_to_a_plugin_that_is_not_there_is_left_out():
    bell = Bell()

    with pytest.raises(PluginError, match="call_hook: no plugin specifies 'ring'; no plugin of this simulation has"):
        components(bell).call_own("ring", count=1)
    assert bell.rung == 0


def test_an_own_hook_can_be_wrapped():
    class Twice:
        @pippin.hookimpl(wrapper=True, optionalhook=True)
        def ring(self):
            names = yield
            return names * 2

    assert components(Tower(), Bell(), Twice()).call_own("ring", count=1) == ["bell", "bell"]


def test_an_answer_that_raises_is_named():
    class Broken:
        @pippin.hookimpl(optionalhook=True)
        def ring(self):
            raise KeyError("boom")

    with pytest.raises(PluginError, match=r"^plugins\.broken: ring raised KeyError: 'boom'"):
        components(Tower(), Broken()).call_own("ring", count=1)


@pytest.mark.parametrize(
    ("hook", "arguments", "fault"),
    [
        ("rung", {}, r"no plugin specifies 'rung'; did you mean 'ring'\?; hooks of plugins: loudest, ring"),
        ("ring", {}, r"ring takes \(count\), got \(\); pass these by name"),
        ("ring", {"count": 1, "loud": True}, r"ring takes \(count\), got \(count, loud\)"),
        ("close", {}, r"'close' is called by the host"),
    ],
)
def test_a_wrong_call_is_refused(hook, arguments, fault):
    with pytest.raises(PluginError, match=fault):
        components(Tower()).call_own(hook, **arguments)


@pytest.mark.parametrize(
    ("specification", "fault"),
    [
        (type("Empty", (), {}), r"plugins:tower: hookspecs has no hook, got <class .*@pippin\.hookspec"),
        (3, r"plugins:tower: hookspecs has no hook, got 3"),
        (
            type("Taken", (), {"bind": pippin.hookspec(lambda self: None)}),
            r"has 'bind', a hook of Pippin; give it anot",
        ),
    ],
)
def test_a_wrong_specification_is_refused(specification, fault):
    tower = type("Tower", (Tower,), {"hookspecs": specification})()

    with pytest.raises(PluginError, match=fault):
        components(tower)


def test_a_hook_of_two_plugins_is_refused():
    other = type("Other", (Tower,), {"hookspecs": type("Ring", (), {"ring": pippin.hookspec(lambda self: None)})})()

    with pytest.raises(PluginError, match="plugins:other: hookspecs has 'ring', a hook of plugins:tower"):
        components(Tower(), other)


def test_an_answer_with_a_wrong_argument_is_refused_if_the_plugin_is_there():
    class Deaf:
        @pippin.hookimpl(optionalhook=True)
        def ring(self, volume):
            pass

    with pytest.raises(PluginError, match=r"plugins:deaf: .*volume"):
        components(Tower(), Deaf())


def test_a_class_may_answer_hooks_of_its_own_and_must_mark_those_of_others():
    class Ringing(Tower):
        @pippin.hookimpl
        def ring(self):
            pass

    class Unmarked:
        @pippin.hookimpl
        def ring(self):
            pass

    assert not list(hook_faults(Ringing))
    assert "a hook of another plugin needs optionalhook=True" in next(iter(hook_faults(Unmarked)))


def test_a_hook_that_yields_without_surrounding_others_is_a_fault():
    """Pluggy would call it and get a generator, whose body nobody runs."""

    class Yielding:
        @pippin.hookimpl
        def after_step(self):
            yield

    class Surrounding:
        @pippin.hookimpl(wrapper=True)
        def update_sensors(self):
            return (yield)

        @pippin.hookimpl
        def check_model(self):
            yield "key: too heavy; take some off"

    (fault,) = hook_faults(Yielding)
    assert fault.startswith("hook 'after_step' yields, so that its body never runs; return in place of yield")
    assert not hook_faults(Surrounding)
