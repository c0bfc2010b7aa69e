"""Heights as text, as a Pippin viewer."""

import sys

import pippin


class ViewerDemo:
    """The plugin: a viewer with `type = "demo"`."""

    def __init__(self, config):
        self.config = config
        self.frame_rate = config.rate  # frames per second of real time; the host leaves out those that come late

    @pippin.hookimpl
    def bind(self, simulation):
        """Find the bodies of the worlds to show."""
        worlds = self.config.worlds_of(simulation.world_count)
        starts = simulation.model.body_world_start.numpy()
        self._bodies = [body for world in worlds for body in range(starts[world], starts[world + 1])]

    @pippin.hookimpl
    def frame(self, simulation, time):
        """Print the heights of the bodies [m] at `time` [s]."""
        heights = simulation.state.body_q.numpy()[self._bodies, 2]
        told = ", ".join(f"{height:.{self.config.digits}f}" for height in heights)
        print(f"t = {time:.2f} s: {told} m", file=sys.stderr)
