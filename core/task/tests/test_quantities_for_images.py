"""Images as observations: against the camera itself, as spaces of Gymnasium, and as the input of a convolution."""

import numpy as np
import onnx
import pippin
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from pippin_task.gym import VectorEnv

HEIGHT, WIDTH, WORLDS = 6, 8, 2
POLE = """<mujoco><worldbody><body pos="0 0 0.5"><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" size="0.1" fromto="0 0 0 0 0 0.4" rgba="0.9 0.5 0.1 1"/></body></worldbody></mujoco>"""
FRONT = {
    "type": "camera",
    "position": [0.0, -2.0, 0.5],
    "look_at": [0.0, 0.0, 0.5],
    "width": WIDTH,
    "height": HEIGHT,
    "vertical_fov": 0.8,
    "outputs": ["color", "depth"],
}


def image(**keys):
    return {"of": {"type": "image", "sensor": "front", **keys}}


@pytest.fixture
def make(tmp_path):
    (tmp_path / "pole.xml").write_text(POLE)
    made = []

    def build(observations, camera=FRONT, **tables):
        task = {
            "episode_length": 0.1,
            "actions": {"pole": {"type": "joint-targets", "actuator": "pole"}},
            "observations": observations,
        }
        file = {
            "simulation": {"device": "cpu", "dt": 0.02},
            "scene": {"worlds": WORLDS, "ground": True, "assets": [{"path": str(tmp_path / "pole.xml")}]},
            "solver": {"type": "featherstone"},
            "actuators": {"pole": {"type": "pd", "joints": [".*"], "kp": 400.0, "kd": 20.0}},
            "sensors": {"front": camera},
            "task": task,
            **tables,
        }
        made.append(VectorEnv(file))
        return made[-1]

    yield build
    for env in made:
        env.close()


@pytest.mark.slow
def test_an_image_is_an_observation_in_either_order(make):
    groups = {
        "first": {"colours": image()},
        "last": {"colours": image(channels="last")},
        "depth": {"depth": image(output="depth", far=3.0)},
        "policy": {"angle": {"of": "joint-positions"}, "colours": image()},
    }
    env = make(groups)
    space, sensor = env.single_observation_space, env.simulation.sensors["front"]
    assert [space[name].shape for name in groups] == [
        (3, HEIGHT, WIDTH),
        (HEIGHT, WIDTH, 3),
        (1, HEIGHT, WIDTH),
        (1 + 3 * HEIGHT * WIDTH,),
    ]
    assert (space["first"].low.min(), space["first"].high.max()) == (0.0, 1.0)

    env.reset(seed=1)
    for step in range(5):  # the last of them ends the episodes
        observed, *_, info = env.step(np.array([[1.0], [-1.0]], dtype=np.float32))
        colours = sensor["color"].numpy()[:, 0, :, :, :3] / np.float32(255.0)
        depth = sensor["depth"].numpy()[:, 0]
        assert env.observation_space.contains(observed)
        np.testing.assert_allclose(observed["last"], colours, atol=1e-6)
        np.testing.assert_allclose(observed["first"], colours.transpose(0, 3, 1, 2), atol=1e-6)
        np.testing.assert_allclose(observed["depth"][:, 0], np.minimum(depth, 3.0) / 3.0, atol=1e-6)
        np.testing.assert_array_equal(observed["policy"][:, 1:], observed["first"].reshape(WORLDS, -1))
        if step >= 3:
            assert (observed["first"][0] != observed["first"][1]).any() == (step == 3)
    assert np.isinf(depth).any()
    assert info["_final_obs"].all()
    assert (info["final_obs"]["first"][0] != info["final_obs"]["first"][1]).any()


@pytest.mark.slow
def test_a_policy_reads_an_image_by_a_convolution(make, tmp_path):
    draws = np.random.default_rng(1)
    weights = {
        "filters": draws.normal(size=(2, 3, 3, 3)),
        "gain": draws.normal(size=(2 * (HEIGHT - 2) * (WIDTH - 2), 1)),
        "bias": draws.normal(size=1),
    }
    nodes = [
        helper.make_node("Conv", ["image", "filters"], ["felt"]),
        helper.make_node("Relu", ["felt"], ["kept"]),
        helper.make_node("Flatten", ["kept"], ["flat"]),
        helper.make_node("Gemm", ["flat", "gain", "bias"], ["action"]),
    ]
    ends = [
        helper.make_tensor_value_info("image", TensorProto.FLOAT, ["worlds", 3, HEIGHT, WIDTH]),
        helper.make_tensor_value_info("action", TensorProto.FLOAT, ["worlds", 1]),
    ]
    arrays = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "eye", ends[:1], ends[1:], arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "eye.onnx")

    env = make({"eye": {"colours": image()}}, policy={"path": str(tmp_path / "eye.onnx")})
    observed, _ = env.reset(seed=1)
    env.simulation.step()

    [wanted] = ReferenceEvaluator(model).run(None, {"image": observed})
    assert np.abs(wanted).max() > 0.01
    np.testing.assert_allclose(env.task.episodes.action.numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"output": "depth"}, r"of\.far: belongs to depth and distance, which need it: got None"),
        ({"far": 1.0}, r"of\.far: belongs to depth and distance"),
        ({"output": "albedo"}, "output: 'front' has no output 'albedo'"),
    ],
)
def test_a_wrong_image_is_refused(make, keys, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        make({"eye": {"colours": image(**keys)}})
