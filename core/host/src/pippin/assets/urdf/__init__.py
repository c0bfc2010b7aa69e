"""URDF files: read as the format's specification says, with every repair noted by name."""
