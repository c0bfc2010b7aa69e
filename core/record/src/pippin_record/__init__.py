"""pippin_record."""
