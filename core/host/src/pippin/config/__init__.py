"""Configuration: typed, frozen classes, and functions that load and dump them; most are names of `pippin` itself."""

from typing import TYPE_CHECKING

from pippin.late import late

from .collision import BodyPairReductionConfig as BodyPairReductionConfig
from .collision import CollisionConfig as CollisionConfig
from .collision import HydroelasticConfig as HydroelasticConfig
from .component import CatalogConfig as CatalogConfig
from .component import ComponentConfig as ComponentConfig
from .extras import refuse_missing_extras as refuse_missing_extras
from .files import FilePath as FilePath
from .geometry import AttachmentConfig as AttachmentConfig
from .joints import SceneSiteConfig as SceneSiteConfig
from .joints import TendonConfig as TendonConfig
from .joints import TendonGuideConfig as TendonGuideConfig
from .layers import overridden
from .loading import dump_toml, inline_text, structure_choice, toml_text, unstructure
from .loading import load as load
from .loading import structure as structure
from .model import AssetConfig as AssetConfig
from .model import BodyMassConfig as BodyMassConfig
from .model import FilterConfig as FilterConfig
from .model import SceneConfig as SceneConfig
from .model import SimulationConfig as SimulationConfig
from .model import SimulationOptions as SimulationOptions
from .shapes import ShapeConfig as ShapeConfig
from .shapes import TerrainConfig as TerrainConfig

if TYPE_CHECKING:
    from .schema import InnerTable, inner_tables, json_schema, table_schema

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
