"""Terminations: conditions that end an episode."""
