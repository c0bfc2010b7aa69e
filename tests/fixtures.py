"""Robots and configurations that several tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

OUTSIDE = Path(__file__).parent / "outside"
"""Packages outside the workspace."""

SOLVERS = ("mujoco", "xpbd", "featherstone", "semi-implicit", "steel", "vbd")
"""Solvers of this workspace that run rigid robots on Warp at high speed."""

_DECLARED = "solver declares that it is not capturable"
EAGER = {
    "mujoco-native": _DECLARED,
    "implicit-mpm": f"{_DECLARED}: on the CPU, a graph of it does not replay what was recorded",
}
"""Solvers that are never captured on the CPU, with the reasons in their programs."""

ALONE = ("style3d",)
"""Solvers that support only one world: the cloths of all worlds collide with each other."""

EVERY_SOLVER = (*SOLVERS, "kamino", "style3d", *EAGER)


@pytest.fixture(params=SOLVERS)
def solver(request: pytest.FixtureRequest) -> str:
    """Each rigid-body solver in turn."""
    return request.param


FAST = ("featherstone", "mujoco", "mujoco-native", "semi-implicit")
"""Solvers for which tests of `each_solver` run with the test command."""


@pytest.fixture(params=[name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in EVERY_SOLVER])
def each_solver(request: pytest.FixtureRequest) -> str:
    """Each solver in turn, most of them in slow tests."""
    return request.param


@pytest.fixture(scope="session")
def install_outside(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Return a context manager that builds and installs a package from outside, as a user does, and removes it later.

    It gives the folder that the package is installed in, for processes that are started.
    """

    @contextmanager
    def install(name: str) -> Iterator[Path]:
        folder = tmp_path_factory.mktemp("outside")
        project, site = folder / "plugin", folder / "site"
        shutil.copytree(OUTSIDE / name, project)
        command = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", site, project]
        subprocess.run(command, cwd=folder, check=True)
        sys.path.insert(0, str(site))
        try:
            yield site
        finally:
            sys.path.remove(str(site))
            module = name.replace("-", "_")
            for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == module]:
                del sys.modules[loaded]

    return install


@pytest.fixture(scope="session")
def share_bytecode() -> Callable[[Path], None]:
    """Return a function that gives the packages of another environment the bytecode that they have in this one.

    uv installs the same files in both. Python uses bytecode only of a file of the same time and size.
    """

    def share(environment: Path) -> None:
        ours = Path(sysconfig.get_path("purelib"))
        (theirs,) = environment.glob("lib/*/site-packages")
        for folder in ours.rglob("__pycache__"):
            other = theirs / folder.relative_to(ours)
            if other.parent.is_dir() and not other.exists():
                shutil.copytree(folder, other)

    return share


@pytest.fixture(scope="session")
def run_tests_elsewhere() -> Callable[..., None]:
    """Return a function that runs pytest with some arguments in a new process of an interpreter, and fails if it does.

    Like the tests here, the process imports Newton without collecting garbage, and keeps its modules out of later
    collections: this is a third of its time.
    """
    code = "import gc, sys; gc.disable(); import newton, pytest; gc.freeze(); gc.enable(); sys.exit(pytest.main())"

    def run(python: str | Path, *arguments: str | Path, cwd: Path, **environment: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        command = [python, "-c", code, *arguments]
        done = subprocess.run(command, cwd=cwd, env=inherited | environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


@pytest.fixture(scope="session")
def write_files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, str]], Path]:
    """Return a function that writes texts by the names of files, and returns their new folder, for other processes."""

    def write(texts: dict[str, str]) -> Path:
        folder = tmp_path_factory.mktemp("files")
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write


@pytest.fixture(scope="session")
def examples() -> Path:
    """Return the folder of the example files."""
    return Path(__file__).parents[1] / "docs" / "examples"


@pytest.fixture(scope="session")
def chain() -> Callable[..., Any]:
    """Return a function that builds a chain of links, hinged about y, hanging from the world at the origin."""
    import newton
    from pippin_conformance import scenes

    def build(link_count: int = 2, length: float = 0.5, angle: float = 0.3) -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        scenes.add_chain(builder, [angle] + [0.0] * (link_count - 1), length=length, armature=0.01)
        return builder

    return build


@pytest.fixture(scope="session")
def ball() -> Callable[..., Any]:
    """Return a function that builds a free sphere, its centre at `height` above the origin."""
    import newton
    from pippin_conformance import scenes

    def build(mass: float = 1.0, radius: float = 0.1, height: float = 5.0) -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        scenes.add_ball(builder, height, mass=mass, radius=radius)
        return builder

    return build


@pytest.fixture(scope="session")
def configure() -> Callable[..., Any]:
    """Return a function from keyword arguments of the tables to a configuration: `configure("xpbd", dt=0.002)`."""
    import pippin

    def build(
        solver: str | dict[str, Any] | None = "semi-implicit",
        *,
        scene: dict[str, Any] | None = None,
        actuators: dict[str, Any] | None = None,
        sensors: dict[str, Any] | None = None,
        collision: dict[str, Any] | None = None,
        task: dict[str, Any] | None = None,
        **simulation: Any,
    ) -> pippin.SimulationConfig:
        tables: dict[str, Any] = {
            # The robots here have armature, so that every solver that knows it meets it.
            "simulation": {"device": "cpu", "dt": 0.002, "accept_unsupported": ["armature"], **simulation},
            "scene": scene or {},
            "solver": {"type": solver} if isinstance(solver, str) else solver,
            "collision": collision or {},
            "actuators": actuators or {},
            "sensors": sensors or {},
        }
        if task is not None:
            tables["task"] = task
        return pippin.structure(tables)

    return build


PD = {"type": "pd", "joints": [".*"], "kp": 20.0, "kd": 1.0}


@pytest.fixture
def pd() -> dict[str, Any]:
    """PD control of every joint, with a delay of three physics steps: an actuator with state."""
    return {"legs": {**PD, "delay": {"steps": 3}, "clamping": [{"type": "max-effort", "max_effort": 5.0}]}}


@pytest.fixture(scope="session")
def cloth() -> Callable[..., Any]:
    """Return a function that builds a small flat cloth for Style3D, moving along x."""
    import newton

    from .scenes import cloth as add_cloth

    def build() -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
        add_cloth(builder)
        return builder

    return build


@pytest.fixture(scope="session")
def grains() -> Callable[..., Any]:
    """Return a function that builds a block of 27 grains, moving along x."""
    import newton
    from pippin_conformance import scenes

    def build() -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)
        scenes.grains(builder)
        return builder

    return build


@attrs.frozen(kw_only=True)
class Suited:
    """A solver with a suitable scene: a driven robot, a cloth or grains."""

    solver: str
    world_count: int
    eager_reason: str | None
    """Reason why its steps are not captured on the CPU; None if they are."""

    step_count: int
    """Number of control steps: enough to show an effect, and no more, to save time."""

    tolerance: float
    """Largest difference between a world alone and a world beside others [m, m/s]; 0 means bitwise equality."""

    build: Callable[..., Any]
    """Returns a simulation, from options of the simulation."""


@pytest.fixture
def suit(
    chain: Callable[..., Any],
    cloth: Callable[..., Any],
    grains: Callable[..., Any],
    configure: Callable[..., Any],
    pd: dict[str, Any],
) -> Callable[..., Suited]:
    """Return a function from a solver and a number of worlds to its suitable scene."""
    import pippin

    def choose(solver: str, world_count: int) -> Suited:
        prototype = {"style3d": cloth, "implicit-mpm": grains}.get(solver, chain)
        tables: dict[str, Any] = {"actuators": pd if prototype is chain else {}}
        table: dict[str, Any] = {"type": solver}
        if solver == "implicit-mpm":
            table |= {"separate_worlds": True, "grid_type": "dense"}  # the CPU requires a dense grid

        def build(**options: Any) -> pippin.Simulation:
            scene = {"worlds": world_count, "ground": True}
            return pippin.Simulation(configure(table, scene=scene, **tables, **options), prototype=prototype())

        return Suited(
            solver=solver,
            world_count=world_count,
            eager_reason=EAGER.get(solver),
            step_count=2 if solver in ("kamino", "implicit-mpm") else 8,
            # The rheology of the grains of all worlds is one system, and iterates until all worlds have converged.
            tolerance=3e-4 if solver == "implicit-mpm" else 0.0,
            build=build,
        )

    return choose


@pytest.fixture(params=EVERY_SOLVER)
def suited(request: pytest.FixtureRequest, suit: Callable[..., Suited]) -> Suited:
    """Each solver with a suitable scene, in three worlds if it supports several."""
    return suit(request.param, 1 if request.param in ALONE else 3)


@pytest.fixture(
    params=[(name, *case) for name in EVERY_SOLVER for case in ((1, 3), (1 if name in ALONE else 3, 2))],
    ids=lambda case: "-".join(map(str, case)),
)
def suited_substeps(request: pytest.FixtureRequest, suit: Callable[..., Suited]) -> tuple[Suited, int]:
    """Each solver with a suitable scene: in one world with an odd count of substeps, and in three with an even one."""
    name, world_count, substeps = request.param
    return suit(name, world_count), substeps


@pytest.fixture(scope="session")
def ant_flight() -> Callable[..., float]:
    """Return a function from a solver of an engine to its largest error of a body's place or quaternion [m, 1] after
    0.2 s, by default at 2 ms: two ants tumble, touch nothing, and MuJoCo in double precision is the reference.
    """
    import numpy as np
    import pippin

    def fly(solver: str, accept_unsupported: list[str], dt: float, **settings: Any) -> Any:
        joints = {"ankle_[14]": 1.0, "ankle_[23]": -1.0}
        ant = {"path": "pkg:newton/examples/assets/nv_ant.xml", "ignore": ["floor"], "joint_positions": joints}
        tables = {
            "simulation": {"dt": dt, "device": "cpu", "accept_unsupported": accept_unsupported},
            "scene": {"worlds": 2, "assets": [ant]},
            "solver": {"type": solver, **settings},
        }
        with pippin.Simulation(pippin.structure(tables)) as simulation:
            ants = simulation.view.articulations("**")
            speeds = np.random.default_rng(3).uniform(-0.7, 0.7, (2, 14)).astype(np.float32)
            ants.set_root_velocities(speeds[:, :6])
            ants.set_dof_velocities(speeds[:, 6:])
            simulation.step(round(0.2 / dt))
            return simulation.state.body_q.numpy().astype(float)

    def error(solver: str, accept_unsupported: Collection[str] = (), dt: float = 0.002, **settings: Any) -> float:
        alone = fly("mujoco-native", [], dt, integrator="euler", disable_contacts=True)
        return float(np.abs(fly(solver, ["rigid_contacts", *accept_unsupported], dt, **settings) - alone).max())

    return error
