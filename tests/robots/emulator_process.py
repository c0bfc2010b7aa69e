"""A program that is a robot: it builds a simulation once, and is emulated anew for each line of JSON that it reads.

A line has overrides of the file; the answer is a line with the address, and at the end one with what the robot did.
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

    def begin(self):
        """Listen."""
        self.course, self._is_ended = [], threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        sys.stdin.readline()
        self._is_ended.set()

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
            own = pippin.load(file, {"simulation.device": "cpu", **json.loads(line)})
            simulation.reset()
            emulator = Ended(simulation, plugin_of(own))
            emulator.begin()
            try:
                result = emulator.run(None, "try", lambda address: print(address, flush=True))
            finally:
                emulator.close()
            told = {"positions": emulator.course[-1], "enabled": emulator._enabled.tolist()}
            print(json.dumps(attrs.asdict(result) | told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
