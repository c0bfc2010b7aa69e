"""Replay of an exported step. This file needs Warp and NumPy alone: an export holds a copy of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import warp as wp

FORMAT = 1
"""Format of `step.json`."""


class ReplayError(ValueError):
    """An exported step cannot be replayed here."""


class Replay(Mapping[str, wp.array]):
    """An exported step: its arrays by name, and their next values after each step.

    The arrays are the memory of the step: write inputs with `replay["control.joint_f"].assign(values)`, and read
    results from them. Two replays share nothing.

    Loading executes the native code in the folder: load only what you trust.

    Args:
        folder: A folder that `pippin export` wrote.

    Raises:
        ReplayError: The folder is incomplete or damaged, or was made for another Warp, device or processor.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        #: The folder.
        self.folder: Path = Path(folder)
        #: The content of `step.json`.
        self.manifest: dict[str, Any] = _manifest(self.folder)
        #: Control steps so far.
        self.step_count: int = 0
        wp.init()
        _refuse_other_machine(self.folder, self.manifest)
        _refuse_changed(self.folder, self.manifest)
        self._graph = wp.capture_load(str(self.folder / "step"), device=self.manifest["device"])
        self._arrays = {each["name"]: self._array(each) for each in self.manifest["arrays"]}

    @property
    def time(self) -> float:
        """Simulated time since the export [s]."""
        return self.step_count * self.manifest["control_dt"]

    def step(self, count: int = 1) -> None:
        """Advance by `count` control steps."""
        for _ in range(count):
            wp.capture_launch(self._graph)
            self.step_count += 1

    def __getitem__(self, name: str) -> wp.array:
        if name not in self._arrays:
            raise ReplayError(f"{self.folder}: no array {name!r}; there are {', '.join(self._arrays)}")
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def _array(self, entry: dict[str, Any]) -> wp.array:
        pointer = self._graph.get_param_ptr(entry["name"]) + entry["offset"]
        dtype, device = getattr(wp, entry["dtype"]), self.manifest["device"]
        return wp.array(ptr=pointer, dtype=dtype, shape=tuple(entry["shape"]), device=device)


def checksums(folder: Path) -> dict[str, str]:
    """Return a checksum of each file that Warp loads, by its path in a folder."""
    files = [folder / "step.wrp", *sorted((folder / "step_modules").rglob("*"))]
    return {
        file.relative_to(folder).as_posix(): hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
        for file in files
        if file.is_file()
    }


def checksum_of(manifest: Mapping[str, Any]) -> str:
    """Return a checksum of a manifest without its own: a wrong shape would let NumPy read beyond an array."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.blake2b(json.dumps(rest, sort_keys=True).encode(), digest_size=16).hexdigest()


def processor_features() -> list[str]:
    """Return the instruction sets of this processor; empty if the system does not tell them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return sorted(
        next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    )


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / "step.json").read_text(encoding="utf-8"))
        if not isinstance(manifest, dict):
            raise ValueError("it is no table")
    except (OSError, ValueError, RecursionError) as error:
        raise ReplayError(
            f"{folder}: 'step.json' cannot be read ({error}); name a folder of `pippin export`"
        ) from error
    if manifest.get("format") != FORMAT:
        raise ReplayError(f"{folder}: format {manifest.get('format')!r}, expected {FORMAT}; export the step anew")
    return manifest


def _refuse_other_machine(folder: Path, manifest: dict[str, Any]) -> None:
    if manifest.get("warp") != wp.__version__:
        raise ReplayError(
            f"{folder}: made by Warp {manifest.get('warp')}, here is {wp.__version__}; export the step anew"
        )
    device = manifest.get("device")
    if device not in [each.alias for each in wp.get_devices()]:
        raise ReplayError(
            f"{folder}: made for device {device!r}, which is not here; export the step anew for another one"
        )
    missing = sorted(set(manifest.get("processor", ())) - set(processor_features())) if device == "cpu" else []
    if missing:
        raise ReplayError(
            f"{folder}: made for a processor with {', '.join(missing[:5])}, which this one lacks; export the step here"
        )


def _refuse_changed(folder: Path, manifest: dict[str, Any]) -> None:
    if manifest.get("checksum") != checksum_of(manifest):
        raise ReplayError(f"{folder}: 'step.json' has changed since the export; copy it again, or export the step anew")
    found = checksums(folder)
    for name, checksum in manifest["checksums"].items():
        if name not in found:
            raise ReplayError(f"{folder}: '{name}' is missing; export the step anew")
        if found[name] != checksum:
            raise ReplayError(
                f"{folder}: '{name}' has changed since the export; copy it again, or export the step anew"
            )


if __name__ == "__main__":  # in an export: a first look
    step = Replay(Path(__file__).parent)
    step.step(10)
    for key, array in step.items():
        print(f"{key}: {array.dtype.__name__}, {array.shape}")
