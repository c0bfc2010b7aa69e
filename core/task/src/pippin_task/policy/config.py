"""The `[policy]` table: a trained network that acts in a task."""

from __future__ import annotations

import attrs
from pippin import FilePath


@attrs.frozen(kw_only=True)
class PolicyConfig:
    """The `[policy]` table: a network that chooses the action of a task in every control step."""

    implementation = "pippin_task.policy.policy:Policy"
    extra = "policy"
    needs = ("task",)

    path: FilePath
    """An ONNX file with one input, the observations, whose first output is the action."""

    observations: str | None = None
    """The group of observations that the network reads; by default the only group."""
