"""A window of this machine, by Newton's viewer for OpenGL."""
