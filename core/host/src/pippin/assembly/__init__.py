"""The build of a simulation: from a configuration to a model, a solver and bound components."""
