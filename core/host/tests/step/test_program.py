"""The step program on bare operations: what is recorded, what is refused, and that neither leaves a trace."""

import numpy as np
import pytest
import warp as wp
from pippin import SimulationError
from pippin.errors import CaptureWarning
from pippin.state.snapshot import Snapshot, find_arrays, python_values
from pippin.state.step_data import StateRecord, difference_beyond_noise
from pippin.step.program import Operation, Program
from warp import fem


@wp.kernel
def decay(x: wp.array[float], factor: float):
    i = wp.tid()
    x[i] = x[i] * factor + 1.0


@wp.kernel
def copy_last(x: wp.array[float], count: int, log: wp.array[float]):
    log[wp.tid()] = x[0] + float(count)


@wp.kernel
def add_noise(draws: wp.array[int], x: wp.array[float], y: wp.array[float], flips: wp.array[int]):
    draw = wp.atomic_add(draws, 0, 1)
    y[0] = x[0] + 1.0e-6 * wp.randf(wp.rand_init(7, draw))
    flips[0] = draw // 4 % 2


class World:
    """Some state, and the program over it, as a simulation would set it up."""

    def __init__(self, device, *extra, policy="auto"):
        self.x = wp.array([1.0, 2.0, 3.0], dtype=float, device=device)
        self.extra = {f"extra{index}": component for index, component in enumerate(extra)}
        roots = {"x": self.x} | self.extra
        operations = [Operation(name="decay", run=self.decay)]
        operations += [
            Operation(name=name, run=part.bind(self), eager_reason=getattr(part, "reason", None))
            for name, part in self.extra.items()
        ]
        self.program = Program(
            operations,
            device=wp.get_device(device),
            policy=policy,
            save=lambda: Snapshot(roots),
            observe=lambda: StateRecord(
                find_arrays(roots), {name: python_values(part) for name, part in self.extra.items()}
            ),
        )

    def decay(self):
        wp.launch(decay, 3, [self.x, 0.5], device=self.x.device)

    def run(self, steps):
        for _ in range(steps):
            self.program.step()
        return self.x.numpy().copy()


class Logger:
    """Counts its calls in Python, and writes the count into an array."""

    def __init__(self, device):
        self.log = wp.zeros(1, dtype=float, device=device)
        self.count = 0

    def bind(self, world):
        def run():
            self.count += 1
            wp.launch(copy_last, 1, [world.x, self.count, self.log], device=self.log.device)

        return run


class Reader:
    """Reads the state on the host, which a recording does not see, and feeds it back."""

    def __init__(self, device):
        self.seen = wp.zeros(1, dtype=float, device=device)

    def bind(self, world):
        return lambda: self.seen.fill_(float(world.x.numpy()[0]))


class Witness:
    """Only appends to a list: no array ever shows it."""

    def __init__(self):
        self.calls = []

    def bind(self, world):
        return lambda: self.calls.append(len(self.calls))


class Noisy:
    """Draws from a host generator in every call."""

    def __init__(self, device):
        self.random = np.random.default_rng(7)
        self.value = wp.zeros(1, dtype=float, device=device)

    def bind(self, world):
        return lambda: self.value.fill_(float(self.random.random()))


class Unsteady:
    """Draws its last bits from what no snapshot puts back, as sums in any order on a GPU do."""

    def __init__(self, device):
        self.value = wp.zeros(1, dtype=float, device=device)
        self.flips = wp.zeros(1, dtype=int, device=device)

    def bind(self, world):
        draws = wp.zeros(1, dtype=int, device=world.x.device)
        inputs = [draws, world.x, self.value, self.flips]
        return lambda: wp.launch(add_noise, 1, inputs, device=world.x.device)


class Raising(Witness):
    """Cannot be called while a device is capturing."""

    def bind(self, world):
        def run():
            if wp.get_device(world.x.device).is_capturing:
                raise RuntimeError("not now")

        return run


class Refused(Witness):
    """Reads while a device is capturing, and gets the words of CUDA."""

    def bind(self, world):
        def run():
            if wp.get_device(world.x.device).is_capturing:
                raise RuntimeError("Warp copy error: Warp CUDA error 906: … (in function wp_memcpy_d2h, warp.cu:1076)")

        return run


class Borrower:
    """Borrows a buffer in each call, and gives back the last one."""

    def __init__(self):
        self.store, self.buffer = fem.TemporaryStore(), None

    def bind(self, world):
        world.lent = {True: set(), False: set()}

        def run():
            self.buffer = self.store.borrow(3, dtype=float, device=world.x.device)
            self.buffer.fill_(1.0)
            world.lent[bool(world.x.device.is_capturing)].add(self.buffer.ptr)

        return run


class Declared(Witness):
    reason = "it says so"


def expected_after(steps):
    x = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    for _ in range(steps):
        x = x * np.float32(0.5) + np.float32(1.0)
    return x


def test_the_first_step_is_a_real_step(device):
    assert np.array_equal(World(device).run(1), expected_after(1))


def test_recording_and_comparing_leave_no_trace(device):
    assert np.array_equal(World(device).run(5), expected_after(5))


def test_what_can_be_recorded_becomes_one_graph(device):
    world = World(device)
    world.run(2)

    assert world.program.is_captured
    assert len(world.program.segments) == 1


def test_off_records_nothing(device):
    world = World(device, policy="off")

    assert np.array_equal(world.run(3), expected_after(3))
    assert not world.program.is_captured
    assert "capture is off" in str(world.program)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (Logger, "count"),
        (Reader, "(seen|reads an array)"),
        (Noisy, "random"),
    ],
)
def test_what_a_replay_would_get_wrong_runs_eagerly(device, make, complaint):
    component = make(device)
    world = World(device, component)

    with pytest.warns(CaptureWarning, match=f"extra0 runs eagerly.*{complaint}"):
        world.run(1)

    assert [segment.graph is None for segment in world.program.segments] == [False, True]


def test_a_python_counter_counts_every_step_and_no_other(device):
    logger = Logger(device)
    world = World(device, logger)

    with pytest.warns(CaptureWarning):
        x = world.run(6)

    assert logger.count == 6
    assert logger.log.numpy()[0] == x[0] + 6


def test_a_list_that_grows_is_noticed(device):
    witness = Witness()
    world = World(device, witness)

    with pytest.warns(CaptureWarning, match="calls"):
        world.run(4)

    assert witness.calls == [0, 1, 2, 3]


def test_a_host_generator_draws_as_it_would_without_capture(device):
    eager, captured = Noisy(device), Noisy(device)
    World(device, eager, policy="off").run(5)

    with pytest.warns(CaptureWarning):
        World(device, captured).run(5)

    assert eager.value.numpy()[0] == captured.value.numpy()[0]


def test_what_differs_from_itself_is_recorded_and_its_noise_hides_no_fault(device):
    noisy = World(device, Unsteady(device), policy="require")
    noisy.run(3)
    beside_a_fault = World(device, Unsteady(device), Logger(device))
    with pytest.warns(CaptureWarning, match="extra1 runs eagerly: a replay"):
        beside_a_fault.run(3)

    assert noisy.program.is_captured
    assert list(beside_a_fault.program.eager_reasons) == ["extra1"]


def test_an_operation_that_raises_while_recorded_is_named(device):
    world = World(device, Raising())

    with pytest.warns(CaptureWarning, match="extra0 runs eagerly: it cannot be recorded .not now."):
        world.run(1)


def test_a_read_that_cuda_refuses_is_said_in_words(device):
    world = World(device, Refused())

    with pytest.warns(CaptureWarning, match="cannot be recorded .it reads an array: Warp copy error: Warp CUDA error"):
        world.run(1)


def test_a_store_lends_no_buffer_to_a_recording_and_to_a_step(device):
    """On CUDA, memory that a recording allocates is there only while its graph is replayed."""
    world = World(device, Borrower())

    world.run(3)

    assert world.program.is_captured
    assert all(world.lent.values())
    assert not world.lent[True] & world.lent[False]


def test_an_eager_operation_splits_the_graph_in_its_place(device):
    world = World(device, Reader(device), Logger2(device))

    with pytest.warns(CaptureWarning):
        world.run(3)

    assert [segment.graph is None for segment in world.program.segments] == [False, True, False]


class Logger2(Logger):
    """The same kernel, without counting: it can be recorded."""

    def bind(self, world):
        return lambda: wp.launch(copy_last, 1, [world.x, 0, self.log], device=self.log.device)


def test_require_refuses_what_declares_itself_eager(device):
    with pytest.raises(SimulationError, match="'require', but extra0 cannot be captured: it says so"):
        World(device, Declared(), policy="require")


def test_require_refuses_what_differs(device):
    world = World(device, Reader(device), policy="require")

    with pytest.raises(SimulationError, match=r"extra0 cannot be captured: .*(a replay differs|reads an array)"):
        world.run(1)


def test_a_declared_eager_operation_runs_without_a_warning(device):
    declared = Declared()
    World(device, declared).run(3)

    assert declared.calls == [0, 1, 2]


def test_the_report_names_operations_and_reasons(device):
    world = World(device, Declared())
    world.run(1)

    report = str(world.program)

    assert "mixed" in report
    assert "extra0: it says so" in report


@wp.struct
class Pair:
    x: float
    y: float


def test_a_snapshot_that_meets_a_warp_struct_can_be_restored():
    """Its definition has the attributes of the class it was made of, and those are not state."""
    pair = Pair()
    pair.x = 1.0
    snapshot = Snapshot({"definition": Pair, "pair": pair}, skip=(wp.Module,))
    pair.x = 2.0

    snapshot.restore()

    assert pair.x == 1.0


@wp.struct
class Reading:
    is_valid: wp.uint8
    value: wp.float64


def test_what_stands_between_the_fields_of_a_struct_makes_no_difference():
    """There are seven bytes after the first field, and nobody writes them."""
    readings = wp.zeros(4096, dtype=Reading, device="cpu")
    first = StateRecord({"readings": readings}, {})
    used = [np.full(4096 * 16, 255, dtype=np.uint8) for _ in range(8)]
    del used

    assert StateRecord({"readings": readings}, {}).difference(first) is None


def test_an_array_that_no_replay_has_is_no_noise():
    readings = wp.zeros(3, dtype=float, device="cpu")
    called = [StateRecord({"readings": readings}, {}) for _ in range(2)]
    replayed = [StateRecord({}, {}) for _ in range(2)]

    assert difference_beyond_noise(called, replayed) == "differs from eager steps in readings"
