"""A program that is a robot: it builds a simulation once, and is emulated anew for each line of JSON that it reads.

A line has overrides of the file; the answer is a line with the address, and at the end one with what the robot did.
"""

import json
import sys
import threading

import attrs
import pippin
from pippin_robot.emulating import ACTING, Emulator, plugin_of


def main(file):
    """Serve until standard input ends."""
    config = pippin.load(file, {"simulation.device": "cpu"})
    with pippin.Simulation(config.with_tables(**dict.fromkeys(ACTING))) as simulation:
        print("ready", flush=True)
        for line in sys.stdin:
            own = pippin.load(file, {"simulation.device": "cpu", **json.loads(line)})
            simulation.reset()
            emulator = Emulator(simulation, plugin_of(own))
            ended = threading.Event()
            threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()), daemon=True).start()
            step, positions = emulator.step, []

            def until_ended():
                if ended.is_set():
                    raise KeyboardInterrupt
                step()
                positions.append(emulator.readings.position.tolist())

            emulator.step = until_ended
            try:
                result = emulator.run(None, "try", lambda address: print(address, flush=True))
            finally:
                emulator.close()
            told = {"positions": positions[-1], "enabled": emulator._enabled.tolist(), "course": positions[::20]}
            print(json.dumps(attrs.asdict(result) | told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
