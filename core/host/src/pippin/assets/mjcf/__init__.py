"""MJCF files: read by MuJoCo, rewritten for Newton's importer, and completed by what that leaves out."""
