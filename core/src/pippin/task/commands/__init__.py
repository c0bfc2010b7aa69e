"""Commands: wishes that are drawn at random."""
