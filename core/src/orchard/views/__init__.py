"""Batched views: articulations, bodies and contacts of all worlds as dense arrays."""
