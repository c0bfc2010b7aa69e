"""Resets inside a step: the ended worlds start anew, in the graph, and the others do not notice."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin import Simulation


@wp.kernel
def end_low(body_q: wp.array[wp.transform], height: float, ended: wp.array[bool]):
    world = wp.tid()
    ended[world] = body_q[world][2] < height


@wp.kernel
def start_high(world_mask: wp.array[bool], joint_q: wp.array[float]):
    world = wp.tid()
    if world_mask[world]:
        joint_q[7 * world + 2] = 2.0


@wp.kernel
def count_masked(world_mask: wp.array[bool], counts: wp.array[int]):
    world = wp.tid()
    if world_mask[world]:
        counts[world] += 1


class Episodes:
    """Ends the episode of each ball that fell below a height [m]."""

    def __init__(self, height=0.9, starts_high=False):
        self.height, self.starts_high = height, starts_high

    @pippin.hookimpl
    def bind(self, simulation):
        self.count = simulation.world_count
        self.ended_worlds = wp.zeros(self.count + 1, dtype=bool, device=simulation.device)
        self.counts = wp.zeros(self.count, dtype=int, device=simulation.device)
        self.seen = wp.zeros(self.count, dtype=wp.transform, device=simulation.device)

    @pippin.hookimpl
    def end_step(self, state):
        inputs = [state.body_q, self.height, self.ended_worlds]
        wp.launch(end_low, self.count, inputs, device=self.ended_worlds.device)

    @pippin.hookimpl
    def initialize_worlds(self, state, world_mask):
        if self.starts_high:
            wp.launch(start_high, self.count, [world_mask, state.joint_q], device=world_mask.device)

    @pippin.hookimpl
    def reset_worlds(self, world_mask):
        wp.launch(count_masked, self.count, [world_mask, self.counts], device=world_mask.device)

    @pippin.hookimpl
    def observe(self, state):
        wp.copy(self.seen, state.body_q)


@pytest.fixture
def falling(configure):
    """Return a function that builds worlds with a ball each, which falls from another height in each world."""

    def build(episodes, solver="featherstone", **tables):
        builders = []
        for height in (1.0, 1.5, 3.0):
            builder = newton.ModelBuilder(up_axis="Z")
            builder.add_body(label="ball", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, height), (0, 0, 0, 1)))
            builders.append((builder, 1))
        config = configure(solver, scene={"worlds": 3}, dt=0.01, **tables)
        return Simulation(config, [episodes], prototype=builders)

    return build


def heights(simulation):
    return simulation.state.body_q.numpy()[:, 2]


@pytest.mark.parametrize("solver", ["featherstone", "xpbd", "mujoco", "mujoco-native"])
def test_an_ended_world_starts_anew_within_the_step(falling, solver):
    episodes = Episodes()
    with falling(episodes, solver) as simulation:
        simulation.step(13)
        before = heights(simulation).copy()
        simulation.step(1)  # 0.14 s: a fall of 0.1 m
        after, speed = heights(simulation).copy(), simulation.state.joint_qd.numpy().reshape(3, 6)[:, 2]
        text, resets = str(simulation.program), simulation.reset_counts.numpy().tolist()

    assert resets == [1, 0, 0], "rehearsed resets are put back"
    assert before[0] < 0.92
    np.testing.assert_allclose(after[0], 1.0)
    assert speed[0] == 0.0
    assert (after[1:] < before[1:]).all()
    assert episodes.counts.numpy().tolist() == [1, 0, 0]
    assert ("captured" in text) == (solver != "mujoco-native"), text


@pytest.mark.slow
def test_a_reset_inside_the_graph_gives_the_bits_of_an_eager_one(falling):
    ends = []
    for capture in ("require", "off"):
        with falling(Episodes(starts_high=True), "mujoco", capture=capture) as simulation:
            simulation.step(80)
            ends.append(simulation.state.body_q.numpy().copy())

    np.testing.assert_array_equal(*ends)


def test_bodies_follow_the_joints_that_a_component_writes(falling):
    episodes = Episodes(starts_high=True)
    with falling(episodes) as simulation:
        simulation.step(14)
        seen = episodes.seen.numpy()[:, 2]
        np.testing.assert_allclose(heights(simulation)[0], 2.0)
        np.testing.assert_array_equal(seen, heights(simulation))
        simulation.reset([1])
        np.testing.assert_allclose(heights(simulation)[1], 2.0)


def test_a_reset_that_reads_the_host_while_it_is_recorded_is_found(falling):
    class Frozen(Episodes):
        @pippin.hookimpl
        def initialize_worlds(self, state, world_mask):
            if world_mask.numpy()[0]:
                self.counts.fill_(7)

    with pytest.warns(pippin.CaptureWarning, match="reset_ended"), falling(Frozen()) as simulation:
        simulation.step(2)


def test_a_world_that_diverged_and_ended_is_not_a_failure_of_the_run(falling):
    class Cautious(Episodes):
        @pippin.hookimpl
        def bind(self, simulation):
            super().bind(simulation)
            self.simulation = simulation

        @pippin.hookimpl
        def end_step(self):
            self.simulation.services.mark_diverged(self.ended_worlds[: self.count])

    with falling(Cautious()) as simulation:
        simulation.step(2)
        state = simulation.state.joint_q.numpy()
        state[2] = np.nan
        simulation.state.joint_q.assign(state)
        simulation.invalidate("joints")
        simulation.step(3)
        simulation.raise_errors()
        after = heights(simulation)

    assert np.isfinite(after).all()
    assert after[0] > after[1] - 0.5


def test_two_components_cannot_both_end_episodes(falling, configure, ball):
    with pytest.raises(pippin.PluginError, match="ended_worlds: plugins:a and plugins:b end episodes"):
        Simulation(configure("featherstone"), {"a": Episodes(), "b": Episodes()}, prototype=ball())
