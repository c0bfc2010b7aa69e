"""Policies: networks that choose the action of a task."""
