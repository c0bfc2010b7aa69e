"""First files and first gains: `pippin init` writes a file for a robot, and `pippin tune` proposes its gains."""
