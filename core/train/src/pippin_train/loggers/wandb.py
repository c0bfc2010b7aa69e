"""The logger of Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import wandb

from .configs import WandbConfig
from .logger import Ending, LoggedRun, Logger


class WandbLogger(Logger):
    """Logs into a run of Weights & Biases, which has the name of the run folder."""

    def __init__(self, config: WandbConfig, run: LoggedRun) -> None:
        super().__init__(config, run)
        run.folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project=config.project,
            entity=config.entity,
            mode=config.mode,
            name=run.folder.name,
            id=run.key,
            resume="allow" if run.key else None,
            dir=str(run.folder),
            config=dict(run.settings),
            settings=wandb.Settings(console="off", silent=True),
        )
        self.key = self._run.id

    def add_numbers(self, numbers: Mapping[str, float], iteration: int) -> None:
        """Log a row; its step is the iteration."""
        self._run.log(dict(numbers), step=iteration)

    def add_file(self, path: Path, iteration: int) -> None:
        """Log a video or a page as what it is, and keep another file with the run."""
        if path.suffix == ".mp4":
            self._run.log({path.stem: wandb.Video(str(path), format="mp4")}, step=iteration)
        elif path.suffix == ".html":
            self._run.log({path.stem: wandb.Html(str(path), inject=False)}, step=iteration)
        else:
            self._run.save(str(path), base_path=str(path.parent), policy="now")

    def close(self, ending: Ending) -> None:
        """End the run."""
        self._run.finish(exit_code=int(ending == "failed"))
