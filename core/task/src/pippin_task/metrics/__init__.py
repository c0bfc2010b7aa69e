"""Metrics: numbers that tell how an episode goes."""
