"""Runs: build, step, grow buffers, note, summarise and write a simulation, and read it back."""
