"""Commands: targets that are drawn at random."""
