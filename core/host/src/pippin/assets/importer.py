"""The base class of importers: readers of assets in formats that Pippin does not know."""

from __future__ import annotations

import abc
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import newton
    from pippin.config import AssetConfig


class Importer(abc.ABC):
    """A reader of one format. A plugin adds `suffixes` and `add_asset`.

    The host finds the file, adds the asset to each world that has it at its position, and sets its label, its
    `joint_positions` and the `armature` of joints without one.

    Args:
        config: The plugin's configuration: the table `importer` of the asset, or the defaults.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    """Suffixes of the files, in lower case with a dot: an asset with one of them needs no key `importer`."""

    options: ClassVar[frozenset[str]] = frozenset()
    """Further keys of the asset's table that `add_asset` obeys, such as `scale` and `floating`. Others are refused."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def add_asset(self, builder: newton.ModelBuilder, file: Path, asset: AssetConfig) -> None:
        """Add what a file describes, with its origin at the origin of the builder.

        Args:
            builder: An empty builder, with the defaults of the scene and the custom attributes of the solver.
            file: The file, which exists.
            asset: The asset's table; `options` names the keys to obey.

        Raises:
            pippin.ConfigError: The file is wrong. The error gets the place of the asset in front.
        """
