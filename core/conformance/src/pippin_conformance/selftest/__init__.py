"""First contact with a device: checks of solvers, steps and components on it, and figures, from the wheel alone."""
