"""Terms that functions of the user compute."""
