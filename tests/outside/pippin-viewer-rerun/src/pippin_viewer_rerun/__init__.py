"""Runs in Rerun, for Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.viewing import FileViewerConfig


@attrs.frozen(kw_only=True)
class RerunConfig(FileViewerConfig):
    """Bodies and particles as a recording of Rerun, or in a Rerun viewer that runs."""

    implementation = ".viewer:RerunViewer"

    suffixes = (".rrd",)

    url: str = ""
    """Address of a running Rerun viewer, such as `rerun+http://127.0.0.1:9876/proxy`; by default a file is written."""
