"""Policies that leave the simulation: a folder with a policy, its passport in words, and a runner without Pippin."""

from .deploying import deploy

__all__ = ["deploy"]
