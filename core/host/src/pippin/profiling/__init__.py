"""The time of each operation of a step, and the work of its kernels."""
