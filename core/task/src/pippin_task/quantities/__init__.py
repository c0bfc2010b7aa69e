"""Quantities: numbers of each world, measured from joints, bodies, actions, commands, sensors and views."""
