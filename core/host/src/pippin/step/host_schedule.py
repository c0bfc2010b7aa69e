"""Scheduling of viewers and `after_step` calls between control steps, and the periods of components in such steps.

These are the `after_step` hooks and callbacks, the frames of viewers, and the pauses that viewers ask for. A step that
nobody observes is not interrupted: the host runs all control steps up to the next one after which somebody is due.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from pippin.binding import Host
from pippin.components.registry import Components, Implementation
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.devices import WARP_LOCK
from pippin.errors import ConfigError, PippinError
from pippin.support.declaration import Declaration

from .callbacks import Callbacks

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)

_LONGEST_SLEEP = 0.01
"""Longest sleep before viewers are asked again how long to wait [s]."""

_FRAME_SHARE = 0.5
"""Share of the time between two frames that may pass between two looks at the clock."""

_TOLERANCE = 1e-6
"""Largest distance of a time from a control step, in control steps: decimals are not exact in binary."""


class HostSchedule:
    """The components and callbacks that act between the control steps of a simulation."""

    def __init__(
        self, components: Components, callbacks: Callbacks, periods: Mapping[str, int], simulation: Host
    ) -> None:
        self._simulation, self._callbacks = simulation, callbacks
        self._after_step = callbacks.of("after_step")
        self._calls = [
            (answer.bind(simulation=simulation), periods.get(answer.owner, 1))
            for answer in components.implementations("after_step")
        ]
        self._viewers = [
            _Viewer(answer, components.attributes[answer.owner], components.declarations[answer.owner], simulation)
            for answer in components.implementations("frame")
        ]
        #: Whether a step waits for a viewer: an interrupt may then end it.
        self.is_waiting = False
        #: Time for which steps waited for viewers so far [s].
        self.seconds_waited = 0.0
        self._pace, self._stride, self._clock = math.inf, 1, 0.0

    @property
    def notes(self) -> Mapping[str, list[str]]:
        """Facts about viewers by component: the frames that came too late, and why one was switched off."""
        return {viewer.owner: viewer.notes for viewer in self._viewers}

    def start(self) -> None:
        """Show the state in all viewers, whether or not a frame is due."""
        for viewer in self._viewers:
            viewer.look(is_forced=True)

    def wait(self, count: int) -> int:
        """Wait while a viewer asks for it, and return the control steps until somebody is due, at most `count`."""
        is_paused, has_acted = False, list[bool]()
        if self._viewers:
            is_paused = self._wait()
            has_acted = [viewer.act() for viewer in self._viewers]
        if is_paused or any(has_acted) or self._after_step:
            return 1
        done = self._simulation.step_count
        for _, period in self._calls:
            count = min(count, period - done % period)
        for viewer in self._viewers:
            count = min(count, viewer.steps_left(done, self._pace, self._stride))
        return count

    def observe(self, stride: int, simulation: Host) -> None:
        """Call everybody who is due after the last `stride` control steps."""
        done = self._simulation.step_count
        for call, period in self._calls:
            if done % period == 0:
                call()
        if self._after_step:
            self._callbacks.call("after_step", simulation=simulation)
        if self._viewers:
            now = time.perf_counter()
            self._pace, self._stride, self._clock = (now - self._clock) / stride, stride, now
            for viewer in self._viewers:
                viewer.look()

    def _wait(self) -> bool:
        """Sleep as long as viewers ask for it, with frames in between; return whether one of them paused the run."""
        start, is_paused = time.perf_counter(), False
        self._clock = self._clock or start
        for viewer in self._viewers:
            viewer.idle_seconds += start - self._clock  # the caller's time between two steps makes no frame late
        while (left := max(viewer.wait_time() for viewer in self._viewers)) > 0.0:
            is_paused = is_paused or math.isinf(left)
            self.is_waiting = True
            try:
                time.sleep(min(left, _LONGEST_SLEEP))
                for viewer in self._viewers:
                    viewer.look()
            finally:
                self.is_waiting = False
        waited = time.perf_counter() - start
        self.seconds_waited += waited
        if is_paused:
            self._clock += waited
        return is_paused


class _Viewer:
    """A viewer with the time of its next frame; switched off by the first exception that it raises."""

    def __init__(
        self, answer: Implementation, attributes: RuntimeAttributes, declared: Declaration, simulation: Host
    ) -> None:
        self.owner = answer.owner
        self.fault: str | None = None
        self._answer, self._attributes, self._simulation = answer, attributes, simulation
        self._rate, self._period = declared.frame_rate, declared.frame_period
        self._next_time, self._next_step = time.perf_counter(), 0
        self._shown_count = self._late_count = 0
        #: Time since the last frame in which the caller took no step [s].
        self.idle_seconds = 0.0

    @property
    def notes(self) -> list[str]:
        """Facts that a reader of the results should know."""
        notes = [] if self.fault is None else [self.fault]
        if self._late_count:
            count = self._shown_count + self._late_count
            notes.append(f"{self._late_count} of {count} frames were left out: a step, or the viewer, took too long")
        return notes

    def wait_time(self) -> float:
        return self._guarded(self._attributes.wait_time, 0.0)

    def act(self) -> bool:
        return self._guarded(self._attributes.act, False)

    def steps_left(self, done: int, pace: float, last: int) -> int:
        """Return the control steps until a frame may be due; with a rate, those that fit between looks at the clock.

        `done` steps were taken so far, a step took `pace` seconds; a stride is at most twice as long as the last one.
        """
        if self.fault is not None:
            return 2**62
        if self._rate is not None:
            return next_stride(last, last * pace, _FRAME_SHARE / self._rate)
        return max(1, self._next_step - done)

    def look(self, *, is_forced: bool = False) -> None:
        if self.fault is None and (is_forced or self._is_due()):
            late_count = self._schedule()
            if is_forced or self._guarded(self._attributes.wants_frame, False):
                self._shown_count += 1
                self._late_count += late_count
                self._guarded(self._show, None)

    def _show(self) -> None:
        with WARP_LOCK:
            self._answer.call(simulation=self._simulation, time=self._simulation.time)

    def _is_due(self) -> bool:
        if self._rate is not None:
            return time.perf_counter() >= self._next_time
        return self._simulation.step_count >= self._next_step

    def _schedule(self) -> int:
        if self._rate is not None:
            now, period = time.perf_counter(), 1.0 / self._rate
            late_count = max(0, math.floor((now - self.idle_seconds - self._next_time) / period + _TOLERANCE))
            self._next_time, self.idle_seconds = now + period, 0.0
            return late_count
        done = self._simulation.step_count
        steps = 1.0 if self._period is None else self._period / self._simulation.control_dt
        frame = math.floor(done / steps + _TOLERANCE) + 1
        self._next_step = max(done + 1, math.ceil(frame * steps - _TOLERANCE))
        return 0

    def _guarded(self, call: Callable[[], T], otherwise: T) -> T:
        if self.fault is not None:
            return otherwise
        try:
            return call()
        except Exception as error:
            reason = str(error) if isinstance(error, PippinError) else f"{type(error).__name__}: {error}"
            self.fault = f"switched off at t = {self._simulation.time:.6g} s: {reason}"
            _LOGGER.warning("%s: %s", self.owner, self.fault)
            return otherwise


def next_stride(stride: int, elapsed: float, period: float) -> int:
    """Return the number of control steps that take about a period [s]: at least one, at most twice as many as before.

    The last stride took `elapsed` seconds.
    """
    return max(1, min(2 * stride, int(stride * period / elapsed))) if elapsed else 2 * stride


def periods_in_steps(declarations: Mapping[str, Declaration], control_dt: float) -> dict[str, int]:
    """Return the control steps between two readings, for each component that declares a period."""
    periods, faults = {}, []
    for name, declared in declarations.items():
        period = declared.period
        if period is None:
            continue
        count = period / control_dt
        whole = round(count)
        if whole < 1 or abs(count - whole) > _TOLERANCE * max(1.0, count):
            faults.append(f"{name.replace(':', '.')}.period: {_refusal(period, count, control_dt)}")
        periods[name] = max(1, whole)
    if faults:
        raise ConfigError(*faults)
    return periods


def _refusal(period: float, count: float, control_dt: float) -> str:
    if count < 1.0:
        return f"{period:g} s is shorter than a control step of {control_dt:g} s; use at least that, or leave it out"
    near = " or ".join(f"{steps * control_dt:g} s" for steps in (math.floor(count), math.ceil(count)))
    return f"{period:g} s is not a whole number of control steps of {control_dt:g} s; the nearest are {near}"
