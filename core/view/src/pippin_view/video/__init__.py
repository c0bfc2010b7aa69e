"""Videos of a run, ray-traced without a display."""
