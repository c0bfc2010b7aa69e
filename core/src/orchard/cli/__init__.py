"""The `orchard` command: one file per subcommand."""

__all__: list[str] = []
