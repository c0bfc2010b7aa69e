"""Optimisation by gradients: `pippin optimise` varies numbers of a simulation, and lowers a loss through rollouts."""
