"""Pages of `pippin view`, of a configuration, a checkpoint or a run folder; and those on which an operator acts."""

from __future__ import annotations

import abc
import os
import sys
import webbrowser
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from pippin import ConfigError, Simulation, SimulationConfig, SimulationError, load
from pippin.config import structure_choice
from pippin.files import refuse_taken
from pippin.motions import undriven
from pippin.studies import RunProgress, import_newton, stopped_between_steps
from pippin.validators import slice_or_indices

from pippin_view.configs import ViserConfig
from pippin_view.viser.pacing import Meter
from pippin_view.viser.ports import free_port

if TYPE_CHECKING:
    from pippin import Run
    from pippin.runs import RunLoop

    from pippin_view.viser.viewer import ViewerViser

_NO_END = 2**62

RECORDER = "demos"
"""Label of the recorder of demonstrations."""

_GUIDED = ("tool-goals", "gripper")
"""Types of actions that the page gives."""


@attrs.frozen(kw_only=True)
class Shown(abc.ABC):
    """Something to show on a page."""

    config: SimulationConfig

    def show(
        self,
        progress: RunProgress,
        *,
        worlds: str | None,
        speed: float | None,
        port: int | None,
        until_closed: bool,
        browser: bool | None,
    ) -> None:
        """Show it until Ctrl-C.

        Args:
            progress: The progress of the command.
            worlds: The worlds to show.
            speed: Simulated time per real time; None means that of the file, or 1.
            port: Port of the page.
            until_closed: Whether to end when the last tab is closed, too.
            browser: Whether to open the page; None if that depends on the machine.

        Raises:
            ConfigError: The port is in use, or a world does not exist.
        """
        pages = [viewer.config for viewer in self.config.viewers.values() if isinstance(viewer.config, ViserConfig)]
        page = pages[0] if pages else ViserConfig()
        port = free_port(page.port if port is None else port, "--port")
        page = attrs.evolve(page, port=port, speed=page.speed or 1.0 if speed is None else speed)
        if worlds is not None:
            try:
                slice_or_indices(None, attrs.fields(ViserConfig).worlds, worlds)
            except ValueError as error:
                raise ConfigError(f"--worlds: {error}") from error
            page = attrs.evolve(page, worlds=worlds)
            page.worlds_of(self.config.scene.worlds)
        import_newton(self.config, progress)

        told: list[str] = []

        def tell(url: str) -> None:
            told.append(url)
            progress.note(f"page: {url} (Ctrl-C ends)")
            if _has_desktop() if browser is None else browser:
                webbrowser.open(url)

        try:
            self.open(progress, page, tell, until_closed)
        except KeyboardInterrupt:
            if not told:
                raise
            progress.note("stopped")

    @abc.abstractmethod
    def open(self, progress: RunProgress, page: ViserConfig, tell: Callable[[str], None], until_closed: bool) -> None:
        """Open the page, tell its address, and stay until it is over, which the last tab may say."""


@attrs.frozen(kw_only=True)
class Running(Shown):
    """A simulation that runs: of a configuration, or from a checkpoint on."""

    build: Callable[[dict[str, ViewerViser]], Simulation]
    """Returns the simulation, with plugins by label."""

    demonstrations: tuple[str, int | None] | None = None
    """The recorder of episodes that a user demonstrates, and how many; None for none."""

    def open(self, progress: RunProgress, page: ViserConfig, tell: Callable[[str], None], until_closed: bool) -> None:
        """Run the simulation in real time."""
        from pippin.runs import RunLoop

        from pippin_view.viser.viewer import ViewerViser

        viewer = ViewerViser(page)
        viewer.ends_with_tabs, viewer.tells_url = until_closed, False
        viewer.demonstrations = self.demonstrations
        with progress.phase("build"):
            simulation = self.build({"page": viewer})
        with simulation:
            loop = RunLoop(simulation, progress)
            loop.begin()
            try:
                with progress.phase("view", has_end=False), stopped_between_steps(simulation) as stop_if_asked:
                    tell(viewer.url)
                    _run(loop, viewer, stop_if_asked)
            finally:
                for note in viewer.notes:
                    progress.note(note)


@attrs.frozen(kw_only=True)
class Recorded(Shown):
    """The recording of a run."""

    run: Run

    def open(self, progress: RunProgress, page: ViserConfig, tell: Callable[[str], None], until_closed: bool) -> None:
        """Play the recording back."""
        from pippin_view.viser.panel import PlaybackPage
        from pippin_view.viser.playback import played_back

        with ExitStack() as opened:
            with progress.phase("build"):
                playback = opened.enter_context(played_back(self.run, self.config, page))
                shown = PlaybackPage(playback, page)
            opened.callback(shown.panel.page.close)
            with progress.phase("view", has_end=False), stopped_between_steps(playback) as stop_if_asked:

                def is_over() -> bool:
                    stop_if_asked()
                    return until_closed and shown.panel.clients.have_left()

                tell(shown.panel.page.url)
                shown.serve(is_over)


def source_of(path: Path, overrides: tuple[str, ...]) -> Shown:
    """Return what a path holds: a run folder, a checkpoint or a configuration.

    Raises:
        ConfigError: The path holds nothing of these, or something is wrong with it.
    """
    if not path.is_dir() and not zipfile.is_zipfile(path):
        config = load(path, overrides)
        return Running(config=config, build=lambda plugins: Simulation(config.unobserved(), plugins))
    if overrides:
        raise ConfigError(
            f"--set, --plugin: '{path}' is not a configuration file, and its values are fixed; leave the option out"
        )
    from pippin import Checkpoint, Run

    if path.is_dir():
        run = Run(path)
        if run.config is None:
            raise ConfigError(f"{path}: has no config.toml; name the folder of a run")
        return Recorded(config=run.config, run=run)
    config = Checkpoint.read(path).configuration()
    return Running(config=config, build=lambda plugins: Simulation.load(path, plugins, observed=False))


def for_operator(config: SimulationConfig, path: Path, instruction: str | None = None) -> SimulationConfig:
    """Return a configuration of one world in which a user acts, and whose episodes are recorded if they are asked for.

    An operator begins and ends episodes: the task ends none. Its actions are those of the page if it has only
    `tool-goals` and `gripper`; else it has none, and the position targets of actuators are the action.

    Args:
        config: The configuration.
        path: The folder of a dataset of LeRobot, or a file `.hdf5` of robomimic; neither may exist.
        instruction: What the robot does, for LeRobot.

    Raises:
        ConfigError: There is something at the path, or its suffix is another one.
        PluginError: A library is not installed.
    """
    path = path.absolute()
    if path.suffix not in ("", ".hdf5"):
        raise ConfigError(f"--record: '{path}' ends with {path.suffix}; name a folder, or a file that ends with .hdf5")
    kind = "robomimic" if path.suffix else "lerobot"
    if kind == "lerobot":
        refuse_taken(path, "--record")
    elif path.exists():
        raise ConfigError(f"--record: '{path}' exists; choose another file")
    if instruction is not None and kind != "lerobot":
        raise ConfigError(f"--instruction: {kind} has none; leave it out, or name a folder")
    own = [choice for choice in config.recorders.values() if choice.type == kind]
    choice = own[0] if own else structure_choice("recorder", {"type": kind})
    settings: dict[str, Any] = {"path": str(path), "keep": "asked", "worlds": "0:1"}
    settings |= {} if instruction is None else {"instruction": instruction}
    recorder = attrs.evolve(choice, config=attrs.evolve(choice.config, **settings))
    task = config.tables.get("task")
    if task is not None:
        is_guided = all(each.type in _GUIDED for each in task.actions.values())
        actions = task.actions if is_guided else {}
        task = attrs.evolve(task, autoreset="disabled", episode_length=None, terminations={}, actions=actions)
    scene = attrs.evolve(config.scene, worlds=1)
    without = undriven(config.unobserved()).with_tables(policy=None, recorders={RECORDER: recorder}, task=task)
    return attrs.evolve(without, scene=scene)


def _run(loop: RunLoop, viewer: ViewerViser, stop_if_asked: Callable[[], None]) -> None:
    is_failed, meter = False, Meter()
    while not (viewer.is_complete or (viewer.ends_with_tabs and viewer.clients.have_left())):
        try:
            loop.stride_to(_NO_END)
            if is_failed:
                viewer.show_fault("")
            is_failed = False
        except SimulationError as error:
            is_failed = True
            viewer.show_fault(str(error))
            viewer.pause()
            loop.progress.note(f"error: {error}")
        stop_if_asked()
        _tell(loop, viewer, meter)


def _tell(loop: RunLoop, viewer: ViewerViser, meter: Meter) -> None:
    """Tell time and speed on a terminal; elsewhere once, and again if a browser opens the page or leaves it."""
    simulation, count = loop.simulation, viewer.clients.count
    rate = meter.look(simulation.step_count)
    if rate is None:
        return
    speed = f"t = {simulation.time:.2f} s, {rate * simulation.control_dt:.3g} × real time"
    text = f"{speed}, {count} browser{'s' * (count != 1)}"
    if loop.progress.is_live:
        loop.progress.update(text)
    else:
        loop.progress.note(f"view     {text}", once=f"{count} browsers")


def _has_desktop() -> bool:
    is_graphical = sys.platform in ("win32", "darwin") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return is_graphical and sys.stdout.isatty()
