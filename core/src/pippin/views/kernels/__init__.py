"""The kernels of the views, in files named after the class that launches them.

No kernel is generic: if several types of one generic kernel are recorded into a graph of the CPU, the replay runs one
type's code for all of them.
"""
