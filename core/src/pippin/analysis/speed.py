"""Speed of a run: steps per second of all worlds, and the real-time factor."""

from __future__ import annotations

from pippin.config import SimulationConfig

__all__ = ["speed_of"]


def speed_of(config: SimulationConfig, world_steps: int, steps: int, seconds: float) -> dict[str, float | None]:
    """Return physics steps per second of all worlds together, and the real-time factor of one world.

    Both are None if nothing was measured.

    Args:
        config: The configuration of the run.
        world_steps: Control steps, summed over the worlds.
        steps: Control steps that all worlds took.
        seconds: Time they took [s].
    """
    step = config.simulation
    if not world_steps or not seconds:
        return {"world_steps_per_second": None, "real_time_factor": None}
    return {
        "world_steps_per_second": world_steps * step.decimation / seconds,
        "real_time_factor": steps * (step.dt * step.decimation) / seconds,
    }
