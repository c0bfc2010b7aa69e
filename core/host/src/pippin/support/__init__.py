"""Support of features: what a solver declares, and what a scene or a user needs."""
