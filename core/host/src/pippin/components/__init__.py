"""The components of one simulation: plugin objects, their declarations and their hook calls."""
