"""Variants of a sweep: their order, ids, and the faults of all configurations at once."""

import contextlib

import pippin
import pytest
from pippin.errors import ConfigError
from pippin.measuring.figures import with_solver
from pippin_sweep.sweep_folder import unwatched
from pippin_sweep.variants import axis_of, variants_of

SCENE = '[scene]\nworlds = 2\n[solver]\ntype = "xpbd"\n'


@pytest.fixture
def file(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path / "scene.toml"


def swept(file, *over, steps=10, overrides=()):
    return variants_of(file, overrides, [axis_of(text) for text in over], lambda config: steps)


def test_values_are_combined_and_the_last_key_is_the_fastest(file):
    variants = swept(file, "solver.iterations=4,8", "simulation.seed=0..1")

    assert [each.values for each in variants] == [
        {"solver.iterations": 4, "simulation.seed": 0},
        {"solver.iterations": 4, "simulation.seed": 1},
        {"solver.iterations": 8, "simulation.seed": 0},
        {"solver.iterations": 8, "simulation.seed": 1},
    ]
    assert variants[3].config.solver.config.iterations == 8
    assert variants[3].config.simulation.seed == 1


def test_an_id_belongs_to_the_configuration_and_the_number_of_steps(file):
    (first,), (again,) = (swept(file, "simulation.seed=3", steps=10) for _ in range(2))
    (longer,) = swept(file, "simulation.seed=3", steps=11)
    (other,) = swept(file, "simulation.seed=3", steps=10, overrides=["scene.worlds=3"])

    assert first.id == again.id
    assert len({first.id, longer.id, other.id}) == 3


def test_variants_of_one_solver_share_kernels(file):
    first, second, other = swept(file, "solver.type=xpbd", "simulation.seed=0,1") + swept(file, "solver.type=mujoco")

    assert first.kernels == second.kernels != other.kernels


@pytest.mark.parametrize(
    "way",
    [
        lambda file, solver: swept(file, f"solver.type={solver}")[0].config,  # pippin sweep
        lambda file, solver: with_solver(file, None, solver),  # pippin compare, pippin check
        lambda file, solver: pippin.load(file, [f"solver.type={solver}"]),  # --set of any command
    ],
)
def test_every_way_to_another_solver_leaves_the_same_keys_out_with_the_same_words(file, way):
    file.write_text(f"{SCENE}iterations = 7\n")

    with pytest.warns(UserWarning, match="solver: left out") as warned:
        config = way(file, "mujoco")

    assert config.solver == pippin.structure({"solver": {"type": "mujoco"}}).solver
    assert {str(each.message) for each in warned} == {
        f"{file}:5: solver: left out, as written for type 'xpbd': iterations; set what the new type shall have"
        " beside it"
    }
    assert way(file, "xpbd").solver.config.iterations == 7


@pytest.mark.parametrize(("solver", "is_kept"), [("mujoco-native", True), ("vbd", False)])
def test_a_key_of_one_name_stays_only_if_it_means_the_same(file, solver, is_kept):
    file.write_text(SCENE.replace("xpbd", "mujoco") + "iterations = 7\n")  # sweeps over blocks in vbd, None in both
    left_out = (
        contextlib.nullcontext() if is_kept else pytest.warns(UserWarning, match="left out.*'mujoco': iterations")
    )

    with left_out:
        config = pippin.load(file, [f"solver.type={solver}"])

    assert config.solver.config.iterations == (7 if is_kept else None)


@pytest.mark.parametrize(
    ("over", "faults"),
    [
        (["solver.iteratons=4,8"], ["solver.iteratons", "(first with solver.iteratons = 4)"]),
        (["solver.iterations=4,0", "simulation.dt=-1.0,0.01"], ["iterations", "dt", "(first with"]),
        (["simulation.seed=0", "simulation.seed=1"], ["over: 'simulation.seed' is swept twice"]),
        (["simulation.seed=1,01"], ["simulation.seed", "'01'"]),
        (["simulation.dt=0.01,1e-2"], ["simulation.dt = 0.01 and simulation.dt = 1e-2 are one configuration"]),
    ],
)
def test_wrong_variants_are_refused_together_before_one_starts(file, over, faults):
    with pytest.raises(ConfigError) as caught:
        swept(file, *over)

    assert all(fault in str(caught.value) for fault in faults)


def test_an_id_belongs_to_the_contents_of_a_plugin_in_a_file(file):
    plugin = file.with_name("push.py")
    source = "import attrs\n@attrs.frozen\nclass PushConfig:\n    implementation = 'Push'\nclass Push: ...\n"
    ids = []
    for text in (source, source, source + "# changed\n"):
        plugin.write_text(text)
        (variant,) = swept(file, "simulation.seed=3", overrides=[f'plugins.push.type="{plugin}:PushConfig"'])
        ids.append(variant.id)

    assert ids[0] == ids[1] != ids[2]


def test_viewers_that_write_films_stay_and_others_are_left_out(file):
    viewers = ["viewers.clip={type='video'}", "viewers.page={type='viser'}"]

    (variant,) = swept(file, "simulation.seed=0", overrides=viewers)

    assert list(unwatched(variant.config).viewers) == ["clip"]
