"""Meanings of names that are the same everywhere in the API, so that docstrings need not repeat them."""

__all__ = ["COMMON", "COMMON_MEMBERS"]

COMMON = {
    "config": "The plugin's configuration.",
    "context": "The task and the simulation, as a term sees them.",
    "prototype": "Number of the prototype, counted from 0; worlds that differ have several.",
    "builder": "The content of one world, before it is finished.",
    "binding": "The component's place in the simulation.",
    "simulation": "The simulation; model, state, control and contacts exist.",
    "state": "The state of the simulation that is read, or written.",
    "control": "The inputs of the solver.",
    "contacts": "The contacts of the last detection; None if the solver keeps them to itself.",
    "observables": "The solver's reports of the last substep; None if none were requested.",
    "dt": "Length of the step [s].",
    "world_mask": "Whether each world is meant, on the device, shape [world_count + 1]; the last is that of no world.",
    "lanes": "The driven DOFs of all worlds that have them.",
    "patterns": "Label patterns, one or several.",
    "labels": "The labels that patterns are compared with.",
    "where": "Place of the value in the configuration, for errors.",
    "what": "The kind of things that labels name, for errors.",
    "catalog": "The plugins to choose from; by default all installed ones.",
    "data": "The values, with as many rows as the view; an array of Warp, NumPy, PyTorch or JAX.",
    "indices": "The rows to write; by default all.",
    "mask": "Whether to write each row, in place of `indices`.",
    "compact": "Whether `data` has one row for each index instead.",
    "out": "The array to write; a view that gets none returns one of its own, which the next call overwrites.",
    "instance": "The instance that attrs validates.",
    "attribute": "The field that attrs validates.",
    "value": "The value that attrs validates.",
}
"""Meanings of parameters."""

COMMON_MEMBERS = {"Config": "Class of the plugin's configuration."}
"""Meanings of members."""
