"""Compute the tables of `explanation/past-one-machine.md`: `python docs/compute_scaling.py`.

Measured figures of one machine, and a model of the network, give what many machines would do. No second machine was at
hand. Change a figure below, run it, and read the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

PAGE = Path(__file__).parent / "explanation" / "past-one-machine.md"

WORLDS = 1_000_000
NODES = (1, 10, 100, 1000)
CORES = 64
STEPS = 24

WORLD_STEP = {"mujoco": 0.198 / 1024, "xpbd": 0.212 / 1024}
"""Time of a control step of one ant on one core [s], 1024 worlds: measured by `tests/benchmarks/ray_shards.py`."""

GAIN = 0.9
"""What a further core gives of a whole one: measured with two, 1.8 to 1.95 in place of 2."""

BLOCK_CALL = 0.0038
"""Time of the driver for a call to a Ray actor that returns a block [s]: measured, a half of two actors."""

COPY = 4e9
"""Speed of blocks through Ray's object store on one machine [B/s]: measured, 64 to 4096 worlds."""

NUMBERS = 60 + 8 + 1
"""Observations, actions and reward of an ant."""

ROW = 4 * NUMBERS + 2
"""A control step of a world in a block, with its two flags [B]."""

SPREAD = 0.05
"""How much calls of equal work differ (standard deviation), of their time: half of what turns on one machine did."""

POLICY = 4 * (60 * 64 + 64 * 64 + 64 * 8)
"""Weights of a network of two layers of 64 units [B]."""


@attrs.frozen
class Network:
    """Links of all machines to one switch that is never full."""

    name: str
    bandwidth: float
    """[B/s]"""
    latency: float = 1e-4
    """[s]"""


SLOW, FAST = Network("10 Gbit/s", 1.25e9), Network("100 Gbit/s", 12.5e9)


@attrs.frozen
class Call:
    """Times of one call to all shards, which gives a block of steps of all worlds [s]."""

    simulation: float
    calls: float
    blocks: float
    policy: float

    @property
    def in_turn(self) -> float:
        """Time of a call if the learner waits for it."""
        return self.simulation + self.calls + self.blocks + self.policy

    @property
    def limit(self) -> str:
        """The largest part."""
        return max(attrs.asdict(self).items(), key=lambda item: item[1])[0]


def call(nodes: int, network: Network, solver: str = "mujoco", actors: int = 1, steps: int = STEPS) -> Call:
    """Return the times of a call.

    Args:
        nodes: Number of machines with 64 cores, all of which simulate.
        network: Their network.
        solver: The solver.
        actors: Ray actors of a machine; fewer than cores means that an actor has several processes.
        steps: Control steps of a block.
    """
    work = steps * WORLDS * WORLD_STEP[solver] / (nodes * CORES * GAIN)
    slowest = 1.0 + SPREAD * _largest(nodes * actors)
    bandwidth = COPY if nodes == 1 else 1.0 / (1.0 / network.bandwidth + 1.0 / COPY)
    return Call(
        simulation=work * slowest,
        calls=nodes * actors * BLOCK_CALL,
        blocks=steps * WORLDS * ROW / bandwidth,
        policy=2 * network.latency + POLICY / network.bandwidth * (nodes - 1).bit_length(),
    )


def _largest(count: int) -> float:
    """Return about how many standard deviations the largest of some normal numbers is above their mean."""
    return math.sqrt(2.0 * math.log(count)) if count > 1 else 0.0


def rate(time: float) -> str:
    """Return a rate of control steps of a world, in millions a second."""
    return f"{STEPS * WORLDS / time / 1e6:.2f}"


def table_of_nodes() -> str:
    """Return rows for one actor on each machine, with both networks."""
    rows = ["| machines | network | simulate [s] | calls [s] | blocks [s] | in turn | gain | learner does not wait |"]
    rows.append("|---|---|---|---|---|---|---|---|")
    alone = call(1, SLOW).in_turn
    for network in (SLOW, FAST):
        for nodes in NODES if network is SLOW else NODES[1:]:
            found = call(nodes, network)
            overlapped = max(found.simulation, found.blocks + found.calls + found.policy)
            times = " | ".join(f"{each:.2f}" for each in (found.simulation, found.calls, found.blocks))
            rates = f"{rate(found.in_turn)} | {alone / found.in_turn:.0f} | {rate(overlapped)}"
            rows.append(f"| {nodes} | {network.name if nodes > 1 else 'none'} | {times} | {rates} |")
    return "\n".join(rows)


def table_of_ends() -> str:
    """Return, for each network and way, the number of machines from which more do not help."""
    rows = ["| way | 10 Gbit/s | 100 Gbit/s |", "|---|---|---|"]
    for name, actors in (("an actor for each machine", 1), ("an actor for each core", CORES)):
        ends = " | ".join(str(_best(network, actors)) for network in (SLOW, FAST))
        rows.append(f"| {name}, the fastest number of machines | {ends} |")
        halves = " | ".join(str(_half(network, actors)) for network in (SLOW, FAST))
        rows.append(f"| {name}, half of the time is the simulation's up to | {halves} |")
    return "\n".join(rows)


def _best(network: Network, actors: int) -> int:
    return min(range(1, 5000), key=lambda nodes: call(nodes, network, actors=actors).in_turn)


def _half(network: Network, actors: int) -> int:
    found = (call(nodes, network, actors=actors) for nodes in range(1, 5000))
    shares = [each.simulation / each.in_turn for each in found]
    return sum(share >= 0.5 for share in shares)


def table_of_lock_step() -> str:
    """Return what a learner gets that waits for each single control step, beside blocks of 24."""
    rows = ["| machines | a call for each step | a call for 24 steps |", "|---|---|---|"]
    for nodes in NODES[1:]:
        single = call(nodes, FAST, steps=1)
        rows.append(f"| {nodes} | {WORLDS / single.in_turn / 1e6:.2f} | {rate(call(nodes, FAST).in_turn)} |")
    return "\n".join(rows)


def table_of_learners() -> str:
    """Return what every machine sends if it learns from its own worlds, beside what blocks take."""
    rows = ["| machines | blocks to one learner [s] | gradients of 20 updates [s] |", "|---|---|---|"]
    for nodes in NODES[1:]:
        found = call(nodes, SLOW)
        updates = 20 * 2 * (POLICY * (nodes - 1) / nodes / SLOW.bandwidth + (nodes - 1).bit_length() * SLOW.latency)
        rows.append(f"| {nodes} | {found.blocks:.2f} | {updates:.3f} |")
    return "\n".join(rows)


TABLES = {
    "nodes": table_of_nodes,
    "ends": table_of_ends,
    "lock-step": table_of_lock_step,
    "learners": table_of_learners,
}


def figures() -> Mapping[str, str]:
    """Return the sizes that the text names."""
    return {
        "block": f"{STEPS * WORLDS * ROW / 1e9:.1f} GB",
        "row": f"{ROW} B",
        "policy": f"{POLICY / 1e3:.0f} kB",
        "calls": f"{call(1000, FAST, actors=CORES).calls:.0f} s",
    }


def page(text: str) -> str:
    """Return the page with new tables and figures between its marks."""
    for name, table in TABLES.items():
        text, count = re.subn(
            rf"(<!-- table: {name} -->\n\n).*?(\n\n<!-- end -->)", rf"\g<1>{table()}\g<2>", text, flags=re.DOTALL
        )
        if count != 1:
            raise ValueError(f"{PAGE}: {count} tables {name!r}; write its two marks once")
    for name, figure in figures().items():
        text = re.sub(rf"(<!-- {name} -->)[^<]*(<!-- / -->)", rf"\g<1>{figure}\g<2>", text)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
