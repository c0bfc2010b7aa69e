"""Several sensors on one body, and rays that meet nothing, in the observations of a task."""

from contextlib import closing

import numpy as np
import pippin
import pytest
from pippin_task.gym import VectorEnv

RAYS = {"grid": {"size": [0.2, 0.2], "resolution": 0.1}, "body": "b"}
SCAN = {"type": "height-scan", "sensor": "ray"}


ROBOT = """<mujoco><worldbody><body name="b" pos="0 0 .5"><joint name="j" axis="0 1 1"/><geom size=".05"/></body>
</worldbody></mujoco>"""


def env(folder, observed, sensors):
    (folder / "robot.xml").write_text(ROBOT)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.005},
        "scene": {
            "ground": True,
            "worlds": 2,
            "assets": [{"path": str(folder / "robot.xml")}],
        },
        "solver": {"type": "mujoco-native"},
        "sensors": sensors,
        "actuators": {"all": {"type": "pd", "joints": [".*"], "kp": 1.0}},
        "task": {
            "actions": {"j": {"type": "joint-targets", "actuator": "all"}},
            "observations": {"policy": {"seen": {"of": observed}}},
        },
    }
    return VectorEnv(pippin.structure(tables))


@pytest.mark.parametrize("others", [{"imu": {"type": "imu", "body": "b"}}, {"second": {"type": "ray-caster", **RAYS}}])
def test_a_scan_reads_its_own_site_of_a_body_with_several(tmp_path, others):
    with closing(env(tmp_path, SCAN, {"ray": {"type": "ray-caster", **RAYS}, **others})) as both:
        seen = both.reset(seed=1)[0]
    with closing(env(tmp_path, SCAN, {"ray": {"type": "ray-caster", **RAYS}})) as alone:
        expected = alone.reset(seed=1)[0]

    np.testing.assert_array_equal(np.asarray(seen), np.asarray(expected))


@pytest.mark.parametrize("output", ["distance", "position"])
def test_an_output_that_may_be_infinite_is_refused(tmp_path, output):
    observed = {"type": "sensor", "sensor": "ray", "output": output}

    with pytest.raises(pippin.ConfigError, match=f"output: '{output}' of 'ray' is infinite where a ray meets nothing"):
        env(tmp_path, observed, {"ray": {"type": "ray-caster", **RAYS}})


def test_a_value_for_rays_that_meet_nothing_is_taken(tmp_path):
    rays = {"type": "ray-caster", **RAYS, "no_hit": "max-distance", "max_distance": 0.2}
    with closing(env(tmp_path, {"type": "sensor", "sensor": "ray", "output": "distance"}, {"ray": rays})) as task:
        seen = np.asarray(task.reset(seed=1)[0])

    np.testing.assert_allclose(seen, 0.2)
