"""Limits on the effort of actuators: Newton's clampings."""
