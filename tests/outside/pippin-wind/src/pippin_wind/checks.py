"""What the conformance kit checks of winds."""

import numpy as np
import pippin
import pippin_conformance as conformance


def check_push(runs):
    """A free body at rest in the wind gets the velocity D A |u| u dt / (2 m) in the first step, in air of density D."""
    speeds = []
    for is_present in (True, False):
        with runs.subject.build(count=1, capture="off", is_on_ground=False, is_present=is_present) as simulation:
            simulation.step()
            ball = [label.endswith("ball") for label in simulation.model.body_label].index(True)
            mass = simulation.model.body_mass.numpy()[ball]
            speeds.append(simulation.state.body_qd.numpy()[ball, :3])
            for wind in simulation.winds.values():
                config, density, dt = wind.config, simulation.air.density.numpy()[0], simulation.control_dt
    u = np.array(config.velocity)
    expected = 0.5 * density * config.area * np.linalg.norm(u) * u * dt / mass
    found = speeds[0] - speeds[1]
    if not np.allclose(found, expected, rtol=0.01, atol=1e-6):
        raise pippin.PluginError(
            f"{runs.subject}: a ball gets {found.round(6)} m/s from a wind of {u} m/s, expected {expected.round(6)};"
            " write velocities that begin with `velocity`"
        )


CONFIGURED = ("entry_point", "light_import", "documented_keys", "round_trip", "unknown_keys", "schema")
STEPPED = ("lifecycle", "capture", "determinism", "allocation", "reset", "worlds", "checkpoint", "side_by_side")

WIND = conformance.KindChecks(
    names=(*CONFIGURED, *STEPPED, "effect"),
    own=(conformance.check(check_push),),
    settings=lambda config, given: {"bodies": ["ball"], "velocity": (3.0, -2.0, 1.0)},
    tables={"air": {}},
)
