"""Random robot files and mechanisms, each beside a reference that says the same in MJCF."""
