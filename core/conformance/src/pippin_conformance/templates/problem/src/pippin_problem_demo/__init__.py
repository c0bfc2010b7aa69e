"""A mass on a spring, as a problem of Pippin's benchmarks: its name. Imports neither Warp nor Newton."""

import attrs


@attrs.frozen(kw_only=True)
class SpringConfig:
    """A mass that swings on a spring."""

    implementation = ".problem:ProblemDemo"
