"""Catalog of installed plugins, read from their metadata."""

from .entries import Catalog
from .entry import Entry
from .evidence import CheckEvidence
from .implementation import modules_of
from .kind import Kind
from .outside import digest_of, untrusted
from .source import CONTRACT_VERSIONS

__all__ = ["CONTRACT_VERSIONS", "Catalog", "CheckEvidence", "Entry", "Kind", "digest_of", "modules_of", "untrusted"]
