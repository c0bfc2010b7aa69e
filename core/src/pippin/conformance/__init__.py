"""The conformance kit: what every plugin promises, tried on one that is installed.

In the tests of a plugin's package, with pytest:

    from pippin import conformance

    @conformance.parametrize(conformance.Conformance("solver", "demo"))
    def test_it_keeps_the_contract(check):
        check()

`check_solver`, `check_actuator` and `check_sensor` do the same anywhere, and so does `pippin check-plugin NAME`.
"""

from .checks import CHECKS, Check
from .outcomes import Conformance, Result, check_actuator, check_sensor, check_solver
from .parametrization import parametrize
from .subject import Scene

__all__ = [
    "CHECKS",
    "Check",
    "Conformance",
    "Result",
    "Scene",
    "check_actuator",
    "check_sensor",
    "check_solver",
    "parametrize",
]
