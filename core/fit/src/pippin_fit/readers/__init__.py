"""Readers of logs: plugins in the group `pippin.logs`."""
