"""Curricula: what changes numbers of a task while it is learned."""
