"""Faults of robot files, each with its place, a figure and a cure: `pippin lint`."""
