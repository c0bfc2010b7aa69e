"""Rollouts of policies in many worlds."""
