"""One control step: its operations, its program, its callbacks."""
