"""Contacts: forces on bodies of all worlds, net, split by what exerts them, and contact by contact."""
