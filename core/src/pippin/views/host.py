"""What a view needs of the simulation it looks into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import newton
    from pippin.state.kinematics import WrittenWorlds

__all__ = ["Host"]


class Host(Protocol):
    """A simulation as views see it: where its arrays are now, and who is told what was written."""

    model: newton.Model
    control: newton.Control
    step_count: int

    @property
    def state(self) -> newton.State:
        """The state between steps, joints and bodies in agreement."""
        ...

    @property
    def stepped_state(self) -> newton.State | None:
        """The state that belongs to the hook or callback that runs now; None between steps."""
        ...

    @property
    def contacts(self) -> newton.Contacts | None:
        """The contacts of the last detection."""
        ...

    @property
    def observables(self) -> newton.solvers.SolverBase.Observables | None:
        """What the solver reported in the last substep."""
        ...

    @property
    def dt(self) -> float:
        """Length of a physics step [s]."""
        ...

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        ...

    @property
    def written(self) -> WrittenWorlds:
        """Which articulations were written, until joints and bodies agree again."""
        ...

    def notify_model_changed(self, flags: newton.ModelFlags | int) -> None:
        """Tell the solver, before the next step, what of the model was changed."""
        ...
