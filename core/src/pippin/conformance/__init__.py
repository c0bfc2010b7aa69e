"""The conformance kit: what every plugin promises, tried on one that is installed.

In the tests of a plugin's package, with pytest:

    from pippin import conformance

    @conformance.parametrize(conformance.Conformance("solver", "demo"))
    def test_it_keeps_the_contract(check):
        check()

`check_solver`, `check_actuator` and `check_sensor` do the same anywhere, and so does `pippin check-plugin NAME`.
"""

from .checks import CHECKS, Check
from .outcomes import CheckResult
from .parametrization import parametrize
from .subject import Scene
from .suite import Conformance, check_actuator, check_sensor, check_solver

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "Conformance",
    "Scene",
    "check_actuator",
    "check_sensor",
    "check_solver",
    "parametrize",
]
