"""Studies of a simulation: recordings, run folders, comparisons, profiles, checks."""
