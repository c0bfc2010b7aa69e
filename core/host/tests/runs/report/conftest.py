"""A summary as runs write it."""

import pytest


@pytest.fixture
def summary() -> dict:
    """The summary of a run of 3 worlds."""
    return {
        "command": ["/bin/pippin", "run", "arm file.toml"],
        "worlds": 3,
        "start_time": 0.0,
        "steps": 2000,
        "simulated_time": 8.0,
        "world_steps_per_second": 12345.6,
        "real_time_factor": 4.2,
        "captured": False,
        "failure": None,
        "seconds": {"read": 0.1, "run": 2.0},
        "program": {
            "captured": False,
            "eager_reasons": {"after_step(plugins:log)": "it writes <a file>"},
            "segments": [{"captured": False, "operations": ["step_solver(solver)", "step_solver(solver)", "monitor"]}],
        },
        "notes": {"sensors:felt": ["accelerations are changes of velocity"]},
        "imports": {"arm.xml": ["option: timestep 0.016 → 0.002"]},
        "capacities": [{"field": "solver.njmax", "holds": "rows of a world", "allocated": 4096}],
        "plugins": {
            "solver": {"type": "xpbd", "distribution": "pippin-solver-xpbd", "version": "0.1.0"},
            "actuators:arm": {"type": "pd", "distribution": "pippin-actuator-pd", "version": "0.1.0"},
        },
        "versions": {"pippin": "0.1.0", "newton": "1.8.0"},
        "hardware": {"cpu": "fast", "cpu_count": 2, "memory_gib": None, "device": "cpu"},
    }
