"""Arrays of other libraries that a component holds: they are seen, compared, put back and saved."""

import array
import importlib

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.state.foreign_arrays import contents_of, is_foreign, write
from pippin_conformance import scenes


class OnlyDLPack:
    """An array that offers DLPack and assignment alone, as PyTorch's on a GPU."""

    def __init__(self, *values):
        self.memory = wp.array(values, dtype=float, device="cpu")

    def __dlpack__(self, **options):
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()

    def __getitem__(self, index):
        return self.memory.numpy()[index]

    def __setitem__(self, index, value):
        if value is not self:
            self.memory[index : index + 1].fill_(value)


class OnlyNumPy:
    """An array that offers the method of NumPy 1, without `copy`, as PyTorch's does."""

    def __init__(self, *values):
        self.memory = np.array(values)

    def __array__(self, dtype=None):
        return self.memory

    def __getitem__(self, index):
        return self.memory[index]

    def __setitem__(self, index, value):
        self.memory[index] = value


def library(name, make):
    """Return a function that makes an array of a library; its test is skipped where the library is missing."""
    return lambda: make(importlib.import_module(name))


MUTABLE = {
    "array": lambda: array.array("d", [0.0, 0.0]),
    "bytearray": lambda: bytearray(2),
    "vec3": lambda: wp.vec3(),
    "dlpack": lambda: OnlyDLPack(0.0, 0.0),
    "numpy": lambda: OnlyNumPy(0.0, 0.0),
    "torch": library("torch", lambda torch: torch.zeros(2)),
}
IMMUTABLE = {"jax": library("jax.numpy", lambda jnp: jnp.zeros(2))}


class Counter:
    """Counts substeps in an array, beside a list with another one."""

    def __init__(self, make):
        self.count, self.held = make(), {"inner": [make()]}

    @pippin.hookimpl
    def before_substep(self):
        for values in (self.count, self.held["inner"][0]):
            values[0] = values[0] + 1

    def seen(self):
        return int(self.count[0]), int(self.held["inner"][0][0])


class Rebinding(Counter):
    """Makes a new array in each substep, as JAX wants it."""

    @pippin.hookimpl
    def before_substep(self):
        self.count, self.held["inner"][0] = self.count + 1, self.held["inner"][0] + 1


CASES = [(Counter, make) for make in MUTABLE.values()] + [(Rebinding, make) for make in IMMUTABLE.values()]
NAMES = [*MUTABLE, *IMMUTABLE]


@pytest.fixture(scope="module")
def prototype():
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 1.0)
    return builder


@pytest.fixture(params=CASES, ids=NAMES)
def counter(request):
    kind, make = request.param
    try:
        make()
    except ImportError as error:
        pytest.skip(str(error))
    return lambda: kind(make)


def test_a_count_in_an_array_makes_the_hook_eager(counter, configure, prototype):
    plugin = counter()
    with pippin.Simulation(configure(substeps=2), {"counter": plugin}, prototype) as simulation:
        with pytest.warns(pippin.CaptureWarning, match=r"before_substep\(plugins:counter\) runs eagerly"):
            simulation.step()
        simulation.step(4)

    assert plugin.seen() == (10, 10)


def test_a_count_in_an_array_is_saved(counter, configure, prototype, tmp_path):
    with pippin.Simulation(configure(capture="off"), {"counter": counter()}, prototype) as simulation:
        simulation.step(3)
        simulation.save(tmp_path / "ball.checkpoint")
    plugin = counter()

    pippin.Simulation.load(tmp_path / "ball.checkpoint", {"counter": plugin}, prototype).close()

    assert plugin.seen() == (3, 3)


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
def test_contents_are_written_in_place(make):
    try:
        values = make()
    except ImportError as error:
        pytest.skip(str(error))
    before = contents_of(values)
    values[0] = 7

    changed = contents_of(values)
    taken = write(values, before)

    assert is_foreign(values)
    assert taken
    assert changed.tobytes() != before.tobytes() == contents_of(values).tobytes()


def test_an_array_that_takes_nothing_cannot_be_saved(configure, prototype, tmp_path):
    image = pytest.importorskip("PIL.Image")

    class Painter:
        def __init__(self):
            self.image = image.new("L", (2, 2))

        @pippin.hookimpl
        def after_step(self):
            """Paint nothing."""

    simulation = pippin.Simulation(configure(capture="off"), {"painter": Painter()}, prototype)

    with (
        simulation,
        pytest.raises(pippin.SimulationError, match=r"plugins:painter\.image is a PIL\.Image\.Image, into"),
    ):
        simulation.save(tmp_path / "ball.checkpoint")


@pytest.mark.parametrize("node", [np.zeros(2), wp.zeros(2, dtype=float, device="cpu"), np.float32(1.0), "text", [1.0]])
def test_what_the_host_reads_itself_is_not_foreign(node):
    assert not is_foreign(node)
