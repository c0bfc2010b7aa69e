"""Contact forces on bodies of all worlds: net, split by counterpart, and contact by contact."""
