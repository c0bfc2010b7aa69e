"""pippin_tune."""
