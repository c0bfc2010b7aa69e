"""`simulation.determinism`: what it sets, what it refuses, and that solvers keep the promise on the CPU."""

import inspect
import json
import subprocess
import sys

import newton
import pippin
import pytest
import warp as wp
from pippin.assembly.faults import refuse_undeterministic, with_determinism
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components

CATALOG = Catalog.installed()
ON_CUDA = ["featherstone", "semi-implicit", "steel", "vbd", "xpbd"]
"""Solvers that Newton offers a deterministic mode for, which compiles."""

KERNELS = {
    "featherstone": "semi_implicit.kernels_particle",
    "semi-implicit": "semi_implicit.kernels_particle",
    "vbd": "vbd.particle_vbd_kernels",
    "xpbd": "xpbd.kernels",
}
"""A module of kernels that sum up atomically, for the solvers that leave the order to Warp."""

RUN = """
import hashlib
import json
import sys

import newton
import pippin
import warp as wp

ROBOT = '''
<mujoco><worldbody>
  <body name="torso" pos="0 0 0.24"><freejoint/><geom type="box" size="0.2 0.1 0.05" density="500"/>
    <body name="leg" pos="0.15 0 -0.05"><joint name="hip" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03" density="500"/></body></body>
</worldbody></mujoco>
'''


def robot():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_mjcf(ROBOT)
    return builder


def cloth():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverStyle3D.register_custom_attributes(builder)
    newton.solvers.style3d.add_cloth_grid(
        builder, pos=wp.vec3(0.0, 0.0, 0.005), rot=wp.quat_identity(), vel=wp.vec3(0.0), dim_x=3, dim_y=3,
        cell_x=0.05, cell_y=0.05, mass=0.01, tri_aniso_ke=wp.vec3(1e2, 1e2, 1e1), edge_aniso_ke=wp.vec3(1e-6),
    )
    return builder


def sand():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)
    builder.add_particle_grid(
        pos=wp.vec3(0.0, 0.0, 0.05), rot=wp.quat_identity(), vel=wp.vec3(0.0), dim_x=3, dim_y=3, dim_z=3,
        cell_x=0.05, cell_y=0.05, cell_z=0.05, mass=0.2, jitter=0.0, radius_mean=0.025,
    )
    return builder


digests = {}
for name in sys.argv[1:]:
    prototype = {"style3d": cloth, "implicit-mpm": sand}.get(name, robot)()
    worlds = 3 if prototype.body_count else 1
    simulation = {"device": "cpu", "dt": 0.002, "capture": "off", "determinism": "run-to-run"}
    tables = {"simulation": simulation, "scene": {"worlds": worlds, "ground": True}, "solver": {"type": name}}
    with pippin.Simulation(pippin.structure(tables), prototype=prototype) as run:
        run.step(5)
        run.raise_errors()
        arrays = run.state_record().arrays
        # An underscore: memory that implicit-mpm's grid holds in the state, and leaves unused in part.
        shown = {path: array for path, array in arrays.items() if "._" not in path}
        digests[name] = {path: hashlib.sha256(array.tobytes()).hexdigest() for path, array in shown.items()}
        kind = "particle_q" if run.model.particle_count else "body_q"
        assert shown[f"state.{kind}"].tobytes() != getattr(run.model, kind).numpy().tobytes(), "nothing moved"
print(json.dumps(digests))
"""


def components_of(tables):
    config = pippin.structure(tables)
    return config, Components(config, (), CATALOG)


def refusal_of(tables, kind):
    config, components = components_of(tables)
    with pytest.raises(pippin.ConfigError) as caught:
        refuse_undeterministic(components, config, kind, CATALOG)
    return caught.value.faults


@pytest.mark.parametrize("name", ON_CUDA)
def test_on_a_gpu_it_sets_what_solver_and_contacts_need_and_on_the_cpu_nothing(name):
    config = pippin.structure({"simulation": {"determinism": "run-to-run"}, "solver": {"type": name}})

    on_gpu = with_determinism(config, "cuda")

    assert on_gpu.collision.deterministic
    assert on_gpu.solver.config.deterministic is True
    assert with_determinism(config, "cpu") is config


def test_where_it_is_not_asked_for_nothing_is_set_or_refused():
    config, components = components_of({"solver": {"type": "mujoco"}})

    assert with_determinism(config, "cuda") is config
    refuse_undeterministic(components, config, "cuda", CATALOG)


def test_a_solver_that_is_told_the_contrary_is_refused():
    tables = {"simulation": {"determinism": "run-to-run"}, "solver": {"type": "xpbd", "deterministic": False}}

    with pytest.raises(pippin.ConfigError, match=r"^solver\.deterministic: false, but simulation\.determinism"):
        with_determinism(pippin.structure(tables), "cuda")


def test_a_solver_that_does_not_promise_it_on_a_gpu_is_refused_with_those_that_do():
    tables = {"simulation": {"determinism": "run-to-run"}, "solver": {"type": "mujoco"}}

    (fault,) = refusal_of(tables, "cuda")

    assert fault == (
        "simulation.determinism: 'run-to-run', but solver 'mujoco' does not promise it on cuda;"
        ' set simulation.device = "cpu", or use one that does: ' + ", ".join(repr(name) for name in ON_CUDA)
    )


def test_a_sensor_that_adds_in_any_order_is_refused_on_a_gpu():
    tables = {
        "simulation": {"determinism": "run-to-run"},
        "solver": {"type": "xpbd"},
        "sensors": {"feet": {"type": "contact", "bodies": ["foot"]}},
        "actuators": {"legs": {"type": "pd", "joints": ["hip"]}},
    }

    (fault,) = refusal_of(tables, "cuda")

    assert "but sensors.feet does not promise it on cuda" in fault


def built_with(name, builder, deterministic):
    entry = CATALOG.find("solver", name)
    arguments = {"model": builder.finalize(device="cpu"), "collision": pippin.CollisionConfig(), "pipeline": None}
    arguments |= {"dt": 0.002, "substeps": 1}
    build = entry.load()(entry.load_config()(deterministic=deterministic)).build_solver
    return build(**{argument: arguments[argument] for argument in inspect.signature(build).parameters})


@pytest.mark.parametrize("name", KERNELS)
def test_the_key_of_the_solver_chooses_warps_mode(name):
    builder = newton.ModelBuilder()
    builder.add_particle((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.0)
    builder.color()

    modes = []
    # The mode is an option of kernel modules of the whole process: the last one is what it was before.
    for deterministic in (True, False):
        built_with(name, builder, deterministic)
        modes.append(wp.get_module(f"newton._src.solvers.{KERNELS[name]}").options["deterministic"])

    assert modes == [wp.DeterministicMode.RUN_TO_RUN, wp.DeterministicMode.NOT_GUARANTEED]


@pytest.mark.slow
def test_the_key_of_steel_orders_its_rows(chain):
    for deterministic in (True, False):
        mode = built_with("steel", chain(), deterministic).deterministic

        assert (mode == wp.DeterministicMode.RUN_TO_RUN) is deterministic


class Dice:
    """Adds forces that nobody can foresee, and says so."""

    deterministic_on = frozenset()

    @pippin.hookimpl
    def before_substep(self, state):
        """Never called."""


def test_a_component_that_says_it_is_random_is_refused_on_the_cpu_too(configure, chain):
    config = configure("xpbd", determinism="run-to-run")

    with pytest.raises(pippin.ConfigError, match=r"but plugins\.dice does not promise it on cpu"):
        pippin.Simulation(config, plugins=[Dice()], prototype=chain())


@pytest.mark.slow
def test_every_solver_gives_the_same_bits_in_a_fresh_process_on_the_cpu(monkeypatch, capsys):
    """`mujoco-native` steps worlds on all cores. This process has run other tests before."""
    entries = {name: CATALOG.find("solver", name) for name in CATALOG.names_without_settings("solver")}
    names = [
        name for name, entry in entries.items() if not hasattr(entry.load_config(), "extra")
    ]  # not those of others
    command = [sys.executable, "-W", "ignore", "-c", RUN, *names]
    monkeypatch.setattr(sys, "argv", ["-c", *names])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as fresh:
        exec(RUN, {})
        there, errors = fresh.communicate()

    assert fresh.returncode == 0, errors
    here, there = (json.loads(text.splitlines()[-1]) for text in (capsys.readouterr().out, there))
    assert list(here) == names
    for name in names:
        assert here[name] == there[name], name
