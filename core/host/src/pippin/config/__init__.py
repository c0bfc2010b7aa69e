"""Configuration: typed, frozen classes, and functions that load and dump them; most are names of `pippin` itself."""

from typing import TYPE_CHECKING

from pippin.late import late

from .attachments import AttachmentConfig as AttachmentConfig
from .bodies import BodyMassConfig as BodyMassConfig
from .catalog import CatalogConfig as CatalogConfig
from .collision import BodyPairReductionConfig as BodyPairReductionConfig
from .collision import CollisionConfig as CollisionConfig
from .component import ComponentConfig as ComponentConfig
from .extras import refuse_missing_extras as refuse_missing_extras
from .hydroelastic import HydroelasticConfig as HydroelasticConfig
from .loading import dump_toml, structure_choice, unstructure
from .loading import load as load
from .loading import structure as structure
from .model import AssetConfig as AssetConfig
from .model import FilterConfig as FilterConfig
from .model import SceneConfig as SceneConfig
from .model import SimulationConfig as SimulationConfig
from .model import SimulationOptions as SimulationOptions
from .overrides import overridden
from .paths import FilePath as FilePath
from .shapes import ShapeConfig as ShapeConfig
from .tendons import SceneSiteConfig as SceneSiteConfig
from .tendons import TendonConfig as TendonConfig
from .tendons import TendonGuideConfig as TendonGuideConfig
from .terrain import TerrainConfig as TerrainConfig
from .toml_writing import inline_text, toml_text

if TYPE_CHECKING:
    from .schema import json_schema, table_schema
    from .settings_tables import InnerTable, inner_tables

__all__ = [
    "InnerTable",
    "dump_toml",
    "inline_text",
    "inner_tables",
    "json_schema",
    "overridden",
    "structure_choice",
    "table_schema",
    "toml_text",
    "unstructure",
]

__getattr__ = late(__name__)
