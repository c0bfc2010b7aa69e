"""Templates of plugin packages."""
