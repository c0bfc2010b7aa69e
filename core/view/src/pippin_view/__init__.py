"""pippin_view."""
