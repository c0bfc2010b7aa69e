"""A dead band, as a Pippin stage."""

import warp as wp
from pippin import sensing


@wp.kernel
def flatten(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    width: float,
    values: wp.array2d[float],
):
    """Zero for small values; one thread for each number. `lanes.launch` gives the first four arguments."""
    row, column = wp.tid()
    if world_mask[worlds[row]] and wp.abs(values[row, column]) <= width:
        values[row, column] = 0.0


class StageDemo(sensing.Stage):
    """The plugin: a stage with `type = "demo"`, in the list `stages` of any sensor."""

    def apply(self, values, world_mask, dt):
        """Set small values of the masked worlds to zero."""
        self.lanes.launch(flatten, world_mask, self.config.width, values)
