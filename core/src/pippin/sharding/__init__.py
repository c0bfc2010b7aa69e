"""Shards: the worlds of a simulation, split over processes of this machine; `pippin.scale` has the public names."""
