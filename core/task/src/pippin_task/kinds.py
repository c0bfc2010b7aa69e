"""The kinds of plugins that are terms of a task."""

from __future__ import annotations

from pippin.catalog import Kind

QUANTITY = Kind(
    name="quantity",
    plural="quantities",
    meaning="Measures numbers of each world for observations, rewards and ends of episodes.",
    place="task.observations.*.*.of",
    order=170,
    is_named_alone=True,
    base="pippin_task:Quantity",
    checks="pippin_conformance.kinds:QUANTITY",
    template="pippin_conformance.templates:term",
)
ACTION = Kind(
    name="action",
    plural="actions",
    meaning="Gives the numbers of a policy their meaning.",
    place="task.actions.*",
    order=180,
    base="pippin_task:Action",
    checks="pippin_conformance.kinds:ACTION",
    template="pippin_conformance.templates:action",
)
REWARD = Kind(
    name="reward",
    plural="rewards",
    meaning="Is a term of the reward of a step.",
    place="task.rewards.*",
    order=190,
    base="pippin_task:Reward",
    checks="pippin_conformance.kinds:REWARD",
    template="pippin_conformance.templates:term",
)
TERMINATION = Kind(
    name="termination",
    plural="terminations",
    meaning="Ends an episode on a condition.",
    place="task.terminations.*",
    order=200,
    base="pippin_task:Termination",
    checks="pippin_conformance.kinds:TERMINATION",
    template="pippin_conformance.templates:termination",
)
EVENT = Kind(
    name="event",
    plural="events",
    meaning="Changes a simulation at random: at the start, at resets, or from time to time.",
    place="task.events.*",
    order=210,
    base="pippin_task:Event",
    checks="pippin_conformance.kinds:EVENT",
    template="pippin_conformance.templates:event",
)
COMMAND = Kind(
    name="command",
    plural="commands",
    meaning="Draws a target, such as a velocity, for each world.",
    place="task.commands.*",
    order=220,
    base="pippin_task:Command",
    checks="pippin_conformance.kinds:COMMAND",
    template="pippin_conformance.templates:command",
)
CURRICULUM = Kind(
    name="curriculum",
    plural="curricula",
    meaning="Changes the numbers of other terms while a policy learns.",
    place="task.curricula.*",
    order=230,
    base="pippin_task:Curriculum",
    checks="pippin_conformance.kinds:CURRICULUM",
    template="pippin_conformance.templates:curriculum",
)
METRIC = Kind(
    name="metric",
    plural="metrics",
    meaning="Measures how episodes go, without a part in the reward.",
    place="task.metrics.*",
    order=240,
    base="pippin_task:Metric",
    checks="pippin_conformance.kinds:METRIC",
    template="pippin_conformance.templates:metric",
)
