"""A program that is a robot: it builds a simulation once, and is emulated anew for each line of JSON that it reads.

A line has overrides of the file; the answer is a line with the address, and at the end one with what the robot did.
With the key `gated`, faults begin once a line `fault` comes.
"""

import json
import sys
import threading

import attrs
import pippin
from pippin_robot import ACTING, Emulator
from pippin_robot.emulating import plugin_of


class Ended(Emulator):
    """An emulator that ends once a line comes."""

    def begin(self, is_gated):
        """Listen."""
        self.course, self._is_ended, self._is_gated = [], threading.Event(), is_gated
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while sys.stdin.readline() == "fault\n":
            self._is_gated = False
        self._is_ended.set()

    def _active(self):
        return [] if getattr(self, "_is_gated", False) else super()._active()

    def step(self):
        """Step, or end."""
        if self._is_ended.is_set():
            raise KeyboardInterrupt
        super().step()
        self.course.append(self.readings.position.tolist())


def main(file):
    """Serve until standard input ends."""
    config = pippin.load(file, {"simulation.device": "cpu"})
    with pippin.Simulation(config.with_tables(**dict.fromkeys(ACTING))) as simulation:
        print("ready", flush=True)
        for line in sys.stdin:
            keys = json.loads(line)
            is_gated = keys.pop("gated", False)
            own = pippin.load(file, {"simulation.device": "cpu", **keys})
            simulation.reset()
            emulator = Ended(simulation, plugin_of(own))
            emulator.begin(is_gated)
            try:
                result = emulator.run(None, "try", lambda address: print(address, flush=True))
            finally:
                emulator.close()
            told = {"positions": emulator.course[-1], "enabled": emulator._enabled.tolist()}
            print(json.dumps(attrs.asdict(result) | told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
