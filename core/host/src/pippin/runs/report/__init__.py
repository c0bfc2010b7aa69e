"""Pages about a run and about a comparison: one HTML file each, which opens in any browser without a network."""
