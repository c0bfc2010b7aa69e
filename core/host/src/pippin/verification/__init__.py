"""Two runs of one file, compared bit for bit."""
