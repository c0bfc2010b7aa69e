"""What a control step starts on the device, by operation: counted rightly, and not more than it was."""

from __future__ import annotations

import pippin
import pytest
import warp as wp
from pippin.profiling.profile import count_launches

BOUNDS = {
    "tasks/ant.toml": (71, 17),
    "tasks/quadruped_velocity.toml": (109, 31),
    "sensors.toml": (89, 0),
    "cartpole.toml": (65, 0),
}
"""What a step starts beside the solver's own: in every step, and in the bodies of conditional nodes."""


@wp.kernel
def grow_counted_numbers(numbers: wp.array[int]):
    numbers[wp.tid()] += 1


class Starting:
    """Starts some of each kind."""

    @pippin.hookimpl
    def bind(self, simulation):
        self.first, self.second = (wp.zeros(4, dtype=int, device=simulation.device) for _ in range(2))
        self.none = wp.zeros(0, dtype=int, device=simulation.device)
        self.prepared = wp.launch(grow_counted_numbers, 4, [self.first], device=self.first.device, record_cmd=True)

    @pippin.hookimpl
    def before_substep(self):
        wp.launch(grow_counted_numbers, 4, [self.first], device=self.first.device)
        wp.launch(grow_counted_numbers, 0, [self.none], device=self.none.device)
        self.prepared.launch()
        self.second.zero_()
        self.none.zero_()
        self.second.fill_(3)
        wp.copy(self.second, self.first)
        self.second.assign(self.first)
        wp.capture_if(self.first, on_true=lambda: wp.copy(self.second, self.first), on_false=self.second.zero_)


class Eager(Starting):
    """The same, called one by one."""

    is_capturable = False


def test_every_kind_is_counted_as_often_as_it_starts(examples):
    overrides = {"scene.worlds": 1, "simulation.device": "cpu", "simulation.decimation": 3}
    simulation = pippin.Simulation.from_file(
        examples / "cartpole.toml", overrides, plugins={"captured": Starting(), "eager": Eager()}
    )
    simulation.step()

    with simulation.program.undone():
        found = count_launches(simulation.program)

    for name in ("before_substep(plugins:captured)", "before_substep(plugins:eager)"):
        # 3 substeps of 2 kernels, 2 memsets, 2 copies and a condition
        assert found[name, False] == 3 * 7
    assert found["before_substep(plugins:captured)", True] == 3 * 2


@pytest.mark.slow
@pytest.mark.parametrize("example", BOUNDS)
def test_a_step_starts_no_more_than_it_did(examples, example):
    overrides = {"scene.worlds": 2, "simulation.device": "cpu"}
    simulation = pippin.Simulation.from_file(examples / example, overrides)
    simulation.step()

    with simulation.program.undone():
        found = count_launches(simulation.program)

    assert found["step_solver(solver)", False] > 0
    for is_inside, bound in enumerate(BOUNDS[example]):
        assert sum(found[own] for own in found if own[1] == is_inside and own[0] != "step_solver(solver)") <= bound
