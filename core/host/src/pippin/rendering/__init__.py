"""Images of worlds: cameras, and what they draw."""
