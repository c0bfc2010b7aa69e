"""The state of a simulation between steps: resets, checkpoints, records, monitors."""
