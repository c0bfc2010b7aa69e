"""Faults that a graph of the CPU records without a word."""

import pippin
import warp as wp

OVERRIDES = {"scene.worlds": 1, "simulation.device": "cpu", "simulation.capture": "require"}


@wp.kernel(module="unique")
def add_one(numbers: wp.array[float]):
    numbers[wp.tid()] += 1.0


class Curious:
    """Looks at the joints in each step, and does nothing with them."""

    @pippin.hookimpl
    def before_substep(self, state):
        state.joint_q.numpy()


def test_a_step_reads_an_array():
    simulation = pippin.Simulation.from_file("docs/examples/cartpole.toml", OVERRIDES, plugins=[Curious()])

    simulation.step(2)

    assert simulation.program.is_captured


def test_the_body_of_a_condition_allocates():
    condition = wp.zeros(1, dtype=int, device="cpu")

    with wp.ScopedCapture(device="cpu") as capture:
        wp.capture_if(condition, on_true=lambda: wp.clone(condition))

    wp.capture_launch(capture.graph)


def test_a_module_is_loaded():
    numbers = wp.zeros(1, dtype=float, device="cpu")

    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(add_one, 1, [numbers], device="cpu")

    wp.capture_launch(capture.graph)
    assert numbers.numpy()[0] == 1.0
