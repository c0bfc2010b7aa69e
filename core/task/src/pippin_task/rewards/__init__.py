"""Rewards: laws over quantities, laws over contacts, and rewards of the episode itself."""
