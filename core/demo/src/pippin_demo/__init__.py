"""A robot that walks, and its policy."""
