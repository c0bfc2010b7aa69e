"""The poses of a scene alone, without a solver, actuators and sensors, as a replay needs them."""

from __future__ import annotations

import attrs
import newton
import warp as wp
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.devices import WARP_LOCK, find_device

from .model import build_model


@attrs.frozen(kw_only=True, eq=False)
class ScenePoses:
    """A scene that does not move by itself."""

    config: SimulationConfig
    """The configuration of the simulation."""

    model: newton.Model
    """The model of its first worlds, on the CPU."""

    state: newton.State
    """Poses to write."""

    @property
    def device(self) -> wp.Device:
        """The device of the model."""
        return self.model.device

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        return self.config.simulation.dt * self.config.simulation.decimation

    @property
    def world_count(self) -> int:
        """The number of worlds of the simulation."""
        return self.config.scene.worlds


def build_poses(config: SimulationConfig, worlds: int) -> ScenePoses:
    """Return the scene with its first worlds, of which there may be more if they differ. No step's kernel is loaded.

    Raises:
        ConfigError: As for a simulation.
    """
    device = find_device("cpu")
    scene = attrs.evolve(config.scene, settable_joints=())
    if scene.has_equal_worlds:
        scene = attrs.evolve(scene, worlds=min(worlds, scene.worlds))
    simulation = attrs.evolve(config.simulation, device="cpu", requires_grad=False)
    still = attrs.evolve(
        config.unobserved(),
        simulation=simulation,
        scene=scene,
        solver=None,
        actuators={},
        sensors={},
        controllers={},
        motions={},
        task=None,
        policy=None,
    )
    components = Components(still, (), config.catalog.restrict(Catalog.installed()))
    with components.closed_on_failure(), WARP_LOCK, wp.ScopedDevice(device):
        model, _, _ = build_model(components, still, None, device)
        state = model.state(requires_grad=False)
    components.close()
    return ScenePoses(config=config, model=model, state=state)
