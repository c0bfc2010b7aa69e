"""The engine of springs: NumPy alone."""

import os
import signal
import sys
import time

CONTRACT = 1
DISTRIBUTION = "numpy"


class Engine:
    """Masses of 1 at springs of 10."""

    def __init__(self, arrays, dt, fails):
        self.arrays, self.dt, self.fails, self.steps = arrays, dt, fails, 0
        self.facts = {"process": os.getpid()}
        print("springs are ready")
        if fails == "start":
            raise ValueError("springs: no wire")
        if fails == "import":
            import no_such_library  # noqa: F401

    def step(self, count):
        self.steps += 1
        if self.steps == 3 and self.fails:
            getattr(self, self.fails)()
        q, v, efforts = (self.arrays[name] for name in ("q", "v", "efforts"))
        for _ in range(count):
            v += self.dt * (efforts - 10.0 * q)
            q += self.dt * v

    def scaled(self, rows, factor):
        return {"rows": rows * factor, "names": ["a", "b"]}

    def nan(self):
        self.arrays["v"][0, 0] = float("nan")

    def killed(self):
        print("\x1b[31mthe last words\x1b[0m", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)

    def left(self):
        os._exit(7)

    def hangs(self):
        time.sleep(3600.0)

    def late(self):
        time.sleep(0.75)  # 1.5 times as long as the host waits

    def stop_within_a_message(self):
        channel = sys._getframe(1).f_locals["ends"].channel
        channel.sendall(b"\x10")  # of the two lengths that a message begins with
        os.kill(os.getpid(), signal.SIGSTOP)

    def raises(self):
        raise RuntimeError("the wire is torn")
