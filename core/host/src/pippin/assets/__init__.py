"""Robot files: the formats, each in a folder of its own, and what every imported file gets.

A format that a plugin reads derives from `Importer`.
"""

from .importer import Importer

__all__ = ["Importer"]
