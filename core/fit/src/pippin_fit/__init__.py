"""Identification: the parameters of a robot from its logs."""
