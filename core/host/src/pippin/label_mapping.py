"""Things by label, such as components and outputs: a mapping whose error names the labels that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pippin.errors import ConfigError
from pippin.spelling import did_you_mean


class UnknownLabelError(ConfigError, KeyError):
    """Nothing has this label. Catch it as a `KeyError` or as a `pippin.ConfigError`."""

    def __str__(self) -> str:
        return "\n".join(self.faults)


class LabelMapping(Mapping[str, Any]):
    """The things of one kind by their labels."""

    def __init__(self, kind: str, components: Mapping[str, Any]) -> None:
        self._kind, self._components = kind, components

    def __getitem__(self, label: str) -> Any:
        if label not in self._components:
            known = ", ".join(self._components) or "none"
            near = did_you_mean(str(label), self._components)
            raise UnknownLabelError(f"{self._kind}: none is labelled {label!r}{near}; labels: {known}")
        return self._components[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._components)

    def __len__(self) -> int:
        return len(self._components)

    def __repr__(self) -> str:
        return f"{self._kind}: {dict(self._components)!r}"
