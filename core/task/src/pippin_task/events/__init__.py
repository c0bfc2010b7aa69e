"""Events: random changes of the simulation."""
