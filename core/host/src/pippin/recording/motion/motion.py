"""A motion between the rows of a recording."""

from __future__ import annotations

import numpy as np
from pippin import ConfigError, did_you_mean
from pippin.motions import Sampled
from pippin.recording import Recording, Series


class RecordedMotion(Sampled):
    """The values of a channel at the times of its rows, which are times of the recorded run [s]."""

    def samples(self) -> np.ndarray:
        """Return the rows of the channel for one world.

        Raises:
            ConfigError: The file is no recording, or has no such channel, label, world or rows.
        """
        config = self.config
        try:
            with Recording(config.path) as recording:
                if config.world not in recording.worlds:
                    worlds = ", ".join(map(str, recording.worlds))
                    raise ConfigError(f"world: {config.world} was not recorded; worlds: {worlds}")
                series = recording[config.channel]
                values = series[:, recording.worlds.index(config.world)]
                times, chosen = recording.time, self._entries(series)
        except ConfigError as error:
            raise ConfigError(
                *(f"path: {fault}" if fault.startswith(config.path) else fault for fault in error.faults)
            ) from error
        values = values if chosen is None else values[:, chosen]
        if not len(times):
            raise ConfigError(f"path: {config.path!r} has no rows; record a run of at least one control step")
        return np.column_stack([times, values.reshape(len(times), -1)]).astype(float)

    def _entries(self, series: Series) -> list[int] | None:
        chosen, known = self.config.labels, series.labels
        for label in chosen or ():
            if label not in known:
                cure = did_you_mean(label, known) or f"; labels: {', '.join(known) or 'none'}"
                raise ConfigError(f"labels: {self.config.channel!r} has no {label!r}{cure}")
        return None if chosen is None else [known.index(label) for label in chosen]
