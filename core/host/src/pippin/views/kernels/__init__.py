"""The kernels of the views, each file for one module of the views.

`gather_scatter` makes kernels of one shape, and `rows` has what they share.

No kernel is one of Warp's generic kernels: if several types of it are recorded into a graph of the CPU, the replay runs
one type's code for all of them.
"""
