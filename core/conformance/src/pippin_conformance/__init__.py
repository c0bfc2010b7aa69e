"""The conformance kit: checks that an installed plugin fulfils the plugin contract.

In the tests of a plugin's package, with pytest:

    import pippin_conformance as conformance

    @conformance.parametrize(conformance.Conformance("solver", "demo"))
    def test_it_keeps_the_contract(check):
        check()

`Conformance("solver", "demo").check()` runs the same checks without pytest. So does the command `pippin check-plugin
NAME`. `check_vector_env` checks a vector environment of Gymnasium.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .outcomes import Check, CheckResult, check
from .vector_env import check_vector_env

if TYPE_CHECKING:
    from .kinds import KindChecks
    from .parametrization import parametrize
    from .runs import Runs
    from .suite import Conformance

__all__ = ["Check", "CheckResult", "Conformance", "KindChecks", "Runs", "check", "check_vector_env", "parametrize"]

__getattr__ = late(__name__)
