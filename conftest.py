"""Fixtures of every test in the workspace."""

import gc
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import pytest

pytest_plugins = ["tests.fixtures"]

# The tests start many processes. Without bytecode each of them would compile the sources of Newton and Warp anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Checks of plugins keep no records of this user, and find none.
os.environ["PIPPIN_EVIDENCE"] = os.devnull

# The processes of the tests have all cores: threads of the linear algebra would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell lets its programs in the background ignore Ctrl-C, `nohup` lets them ignore the end of a session, and they let
# theirs. Many tests send these.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # not on Windows
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


DEVICE = os.environ.get("PIPPIN_TEST_DEVICE", "cpu")
"""Device of the simulations that `simulate` builds, unless a test or its file names one."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Import the tests without collecting garbage, and keep the modules of Newton and Warp out of later collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000)  # builds make many objects that stay: a tenth of the time went into collections
        gc.enable()


@pytest.hookimpl(optionalhook=True)  # not without pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores: some tests wait for a process of their own, or for time."""
    return (os.cpu_count() or 1) + 1


_SLOW_IMPORTS = {"kamino", "implicit-mpm"}
"""Solvers whose import takes seconds in each process of the tests."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what is required, what a parameter lets import a solver for seconds, and cases after the first."""
    counts: Counter[str] = Counter()
    for item in items:
        values = getattr(item, "callspec", None) and item.callspec.params.values()
        imports = any(isinstance(value, str) and value in _SLOW_IMPORTS for value in values or ())
        if imports or item.get_closest_marker("required"):
            item.add_marker("slow")
        first, name = item.get_closest_marker("first_cases"), item.nodeid.partition("[")[0]
        if first is not None and item.get_closest_marker("slow") is None:
            counts[name] += 1
            if counts[name] > first.args[0]:
                item.add_marker("slow")


def pytest_report_header() -> str | None:
    """Name the lane that the tests run in; see `tests/lanes`."""
    return f"lane: {lane}" if (lane := os.environ.get("PIPPIN_TEST_LANE")) else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of what the lane takes away; with a GPU, let arrays without a device be where the simulations are.

    Those of `simulate` are on DEVICE, or where the file's mark says; a test that builds its own is on the CPU. A launch
    with arrays of the other side is then refused by name: it would hurt every later test of the process.
    """
    from pippin.devices import has_driver

    if has_driver():
        import warp as wp

        mark = item.get_closest_marker("simulation")
        chosen = DEVICE if mark is None else mark.kwargs.get("device", DEVICE)
        wp.config.launch_array_access_mode = wp.config.LaunchArrayAccessMode.CHECKED
        wp.set_device(chosen if "simulate" in getattr(item, "fixturenames", ()) else "cpu")
    for mark in item.iter_markers("not_in_lane"):
        if os.environ.get("PIPPIN_TEST_LANE") in mark.args:
            pytest.skip(f"not in this lane: {mark.kwargs['reason']}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Keep what a test or the last test of a file leaves behind out of later collections.

    The modules of a solver and the kernels of Warp are a million objects, which each collection would walk again.
    """
    modules = len(sys.modules)
    result = yield
    if len(sys.modules) > modules or nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


@pytest.fixture(scope="session")
def uv() -> str:
    """The uv that runs these tests, or the one on PATH; it builds and installs packages the way a user does."""
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        pytest.fail("uv: not found; install it, or run the tests with `uv run --group dev pytest`")
    return found


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each device of this machine, as Warp's default: the CPU, and the first CUDA device if there is one."""
    import warp as wp

    if request.param != "cpu" and not wp.is_cuda_available():
        pytest.skip("no CUDA device")
    with wp.ScopedDevice(request.param):
        yield request.param


@pytest.fixture(scope="module")
def simulate(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a function that builds a simulation: `simulate(prototype, worlds=3, dt=0.01, kp=20.0)`.

    Its device is the CPU, or what the environment variable PIPPIN_TEST_DEVICE names.

    A key goes into the table that has it, `[simulation]` or `[scene]`; the name of a table is that table. Other keys go
    into the table that the file's mark `simulation` names as `options`, such as "actuators.legs". The other arguments
    of the mark are what all simulations of the file share. `gravity` may be the number along z. `solver` may be a name,
    a table or a plugin. A class or a function among the plugins, or as the prototype, is called; a prototype may be
    the name of a fixture that returns such a function.
    """
    import pippin

    mark = request.node.get_closest_marker("simulation")
    shared: dict[str, Any] = {} if mark is None else mark.kwargs

    def build(prototype: Any = None, plugins: Iterable[Any] = (), **keys: Any) -> pippin.Simulation:
        keys = {**shared, **keys}
        shared_plugins, own, solver = keys.pop("plugins", ()), keys.pop("prototype", None), keys.pop("solver", None)
        if isinstance(solver, str | dict):
            keys["solver"] = {"type": solver} if isinstance(solver, str) else solver
            solver = None
        made = [each() if callable(each) else each for each in (solver, *shared_plugins, *plugins) if each is not None]
        prototype = own if prototype is None else prototype
        prototype = request.getfixturevalue(prototype) if isinstance(prototype, str) else prototype
        arguments = {name: keys.pop(name) for name in ("callbacks", "folder") if name in keys}
        config = pippin.structure(_tables(keys))
        return pippin.Simulation(config, made, prototype() if callable(prototype) else prototype, **arguments)

    return build


def _tables(keys: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a configuration from loose keys; see `simulate`."""
    import attrs
    import pippin
    from pippin.catalog import Catalog

    defaults = pippin.structure({})
    tables: dict[str, Any] = {"simulation": {"device": DEVICE}, "scene": {}}
    homes = {key: table for table in tables for key in attrs.fields_dict(type(getattr(defaults, table)))}
    if "options" in keys:
        for key in ("bodies", "joints"):
            homes.pop(key)  # in the files of components, those that a component chooses
    path = keys.pop("options", "").split(".")
    known = {*attrs.fields_dict(type(defaults)), *Catalog.installed().tables}
    for key in [key for key in keys if key in known]:
        tables[key] = {**tables.get(key, {}), **keys.pop(key)}
    for key in [key for key in keys if key in homes]:
        value = keys.pop(key)
        tables[homes[key]][key] = [0.0, 0.0, value] if key == "gravity" and isinstance(value, float) else value
    place = tables
    for name in path if keys else ():
        place[name] = dict(place.get(name, {}))
        place = place[name]
    place.update(keys)
    return tables
