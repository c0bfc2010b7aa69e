"""Hinges, a relay and an energy meter whose arithmetic is C: plugins that leave Warp's graph, and say so."""

import attrs
from attrs.validators import ge
from pippin import sensing
from pippin.actuation import ActuatorConfig, Parameter, parameter


@attrs.frozen(kw_only=True)
class HingesConfig:
    """Links that hang on one hinge each, moved by symplectic Euler in C. On the CPU only."""

    implementation = ".plugins:Hinges"

    damping: float = attrs.field(default=0.0, validator=ge(0.0))
    """Viscous friction of every hinge [N·m·s]."""


@attrs.frozen(kw_only=True)
class RelayConfig(ActuatorConfig):
    """A relay: full effort one way or the other, and none close to the target."""

    implementation = ".plugins:Relay"

    level: Parameter = parameter(minimum=0.0)
    """Effort when it is on [N·m], for all joints or by pattern."""

    width: Parameter = parameter(minimum=0.0)
    """Error up to which it is off [rad], for all joints or by pattern."""


@attrs.frozen(kw_only=True)
class EnergyConfig(sensing.SensorConfig):
    """Energies of every world."""

    implementation = ".plugins:EnergyMeter"
