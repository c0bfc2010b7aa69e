"""Settings of the plugin that plays what an optimisation found."""

from __future__ import annotations

import attrs
from pippin import FilePath


@attrs.frozen(kw_only=True)
class OptimisedConfig:
    """The values that `pippin optimise` found for the variables of `[optimise]`, in all worlds."""

    implementation = ".optimised:Optimised"

    path: FilePath
    """A file `.npz` that the optimisation wrote: an array for each variable, shape [points, numbers]."""
