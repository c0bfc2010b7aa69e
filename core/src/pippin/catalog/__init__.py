"""The catalog of installed plugins, read from their metadata."""
