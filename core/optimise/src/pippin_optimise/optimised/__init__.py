"""The plugin that plays what an optimisation found."""
