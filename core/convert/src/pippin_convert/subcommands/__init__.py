"""Subcommands of this package, imported when they are called."""
