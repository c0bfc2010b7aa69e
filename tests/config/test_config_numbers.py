"""Numbers and ranges of every installed configuration class: what is not finite, not ordered or below zero is refused.

A field that takes a negative number, or infinity, is listed here; a new one must be, too, or have a validator.
"""

import math
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin, get_type_hints

import attrs
from pippin.catalog.entries import Catalog
from pippin.config import ComponentConfig, SimulationConfig
from pippin.config.geometry import SelectionConfig
from pippin.config.joints import TendonGuideConfig
from pippin_dynamixel import DynamixelJointConfig
from pippin_feetech import FeetechJointConfig
from pippin_fit.config import FitParameterConfig
from pippin_optimise.config import LossConfig, VariableConfig
from pippin_robot.configs import LeRobotJointConfig
from pippin_ros2 import RosJointConfig
from pippin_solver_coupled import EntryConfig, ProxyConfig
from pippin_task.curricula.configs import CurriculumStageConfig
from pippin_unitree import UnitreeJointConfig

NAMED = ComponentConfig(type="x", config=None)
ENTRY = EntryConfig(solver=NAMED, bodies=("x",))
COUPLED = {
    "entries": {"one": ENTRY, "other": ENTRY},
    "proxies": (ProxyConfig(source="one", destination="other", bodies=("x",)),),
}
TOOL = {"body": "x"}
VARIABLE = {"model": "spring_rest_length"}
PUSHED = {"force_on": SelectionConfig(of="x")}

SIGNED = {
    "open",
    "closed",
    "collision_group",
    "const_effort",
    "ctrl",
    "high",
    "low",
    "mean",
    "no_hit",
    "scale",
    "start_height",
    "target",
    "weight",
}
SIGNED |= {"twist_total", "offset", "position", "ratio", "rest_position", "velocity", "amplitude", "phase", "rate"}
SIGNED |= {"temperature", "zero"}
"""Numbers that may be negative."""
SENTINELS = ("max_", "contact_friction_gap_max", "contact_friction_position_iterations", "gradient_steps")
"""Beginnings of the names of those for which -1 has a meaning, by the convention of a solver or a library."""
UNBOUNDED = {"clip", "high", "low", "max_effort", "max_speed"}
"""Those that may be infinite."""
FREE = ("parameters", "linear_solver_kwargs", "bilateral_solver_kwargs")
"""Tables of which somebody else knows the meaning."""
POINTS = {"HeadingToConfig.target", "GridConfig.size", "JointPointConfig.centre", "TerrainConfig.difficulty"}
POINTS |= {"RoughConfig.height", "SlopeConfig.gradient", "SlopeDownConfig.gradient", "WavesConfig.amplitude"}
POINTS |= {"StairsConfig.step_height", "StairsDownConfig.step_height"}
POINTS |= {"SteppingStonesConfig.distance", "SteppingStonesConfig.rise"}
"""Pairs that are no ranges."""
REQUIRED: dict[str, dict[str, Any]] = {
    "DelayConfig": {"steps": 1},
    "ServoConfig": {"model": "mx64"},
    "PositionBasedConfig": {"lookup_positions": (0.0, 1.0), "lookup_efforts": (1.0, 1.0)},
    "CameraConfig": {"vertical_fov": 1.0, "body": "x"},
    "ContactConfig": {"bodies": ("x",)},
    "FrameTransformConfig": {"body": "x"},
    "ReferenceConfig": {"body": "x"},
    "IMUConfig": {"body": "x"},
    "ObjectStateConfig": {"particles": ...},
    "RayCasterConfig": {"body": "x", "lidar": ...},
    "LatencyConfig": {"readings": 1},
    "ProgressRateConfig": {"target": (0.0, 0.0)},
    "BeyondConfig": {"low": 0.5},
    "InsideConfig": {"low": 0.5},
    "OutsideRangeConfig": {"low": 0.5},
    "RangeTerminationConfig": {"low": 0.5},
    "RootPushConfig": {"period": (1.0, 1.0)},
    "VelocityConfig": {},
    "PhaseConfig": {"frequency": 1.0},
    "HeightfieldConfig": {"size": (1.0, 1.0)},
    "ClothGridConfig": {"cell": (1.0, 1.0), "density": 1.0},
    "GranularConfig": {"size": (1.0, 1.0, 1.0)},
    "PinConfig": {"edge": "left"},
    "EntryConfig": {"bodies": ("x",)},
    "ProxyConfig": {"bodies": ("x",)},
    "CoupledConfig": COUPLED,
    "ControllerConfig": TOOL,
    "DifferentialIKConfig": TOOL,
    "IKConfig": TOOL,
    "OperationalSpaceConfig": {**TOOL, "kp": 1.0, "kd": 1.0},
    "MotionConfig": PUSHED,
    "SampledConfig": PUSHED,
    "KeyframesConfig": {**PUSHED, "times": (0.0,), "values": (1.0,)},
    "FileMotionConfig": PUSHED,
    "RecordingMotionConfig": PUSHED,
    "SineConfig": PUSHED,
    "RateConfig": PUSHED,
    "RandomMotionConfig": {**PUSHED, "low": 0.0, "high": 1.0},
    "TendonConfig": {"guides": (TendonGuideConfig(), TendonGuideConfig())},
    "SurfaceGripperConfig": TOOL,
    "RodConfig": {"end": (1.0, 0.0, 0.0), "segments": 1},
    "CurriculumStageConfig": {"numbers": {"x": 1.0}},
    "StagesConfig": {"stages": (CurriculumStageConfig(step=0, numbers={"x": 1.0}),)},
    "BusJointConfig": {"id": 1, "zero": 0},
    "DynamixelConfig": {"port": "x", "joints": {"x": DynamixelJointConfig(id=1)}},
    "FeetechConfig": {"port": "x", "joints": {"x": FeetechJointConfig(id=1)}},
    "Ros2Config": {"joints": {"x": RosJointConfig()}},
    "ZenohConfig": {"joints": {"x": RosJointConfig()}},
    "UnitreeConfig": {"robot": "go2", "joints": {"x": UnitreeJointConfig(motor="FR_hip")}},
    "LeRobotJointConfig": {"unit": "degrees", "zero": 0.0},
    "LeRobotRobotConfig": {"robot": {"type": "x"}, "joints": {"x": LeRobotJointConfig(unit="degrees", zero=0.0)}},
    "EmulatedFaultConfig": {"kind": "silence"},
    "SymmetryConfig": {"names": {"L(.*)": "R$1"}},
    "TerrainConfig": {"patches": {"x": NAMED}},
    "VariableConfig": VARIABLE,
    "FitConfig": {"parameters": {"x": FitParameterConfig(range=(0.0, 1.0))}},
    "OptimiseConfig": {"variables": {"x": VariableConfig(**VARIABLE)}, "loss": {"x": LossConfig(of=NAMED)}},
}
"""Values that make a table right, where those by type do not; `...` is a value by type."""


def alternatives(kind: Any) -> Iterator[Any]:
    """Yield the types of a union."""
    if get_origin(kind) in (typing.Union, types.UnionType):
        for each in get_args(kind):
            yield from alternatives(each)
    else:
        yield kind


def classes(found: dict[type, None], kind: Any) -> None:
    """Collect the configuration classes that a type names."""
    for each in alternatives(kind):
        if attrs.has(each) and each is not ComponentConfig and each not in found:
            found[each] = None
            for hint in get_type_hints(each).values():
                classes(found, hint)
        for part in get_args(each):
            classes(found, part)


def every_class() -> list[type]:
    found: dict[type, None] = {}
    classes(found, SimulationConfig)
    for entry in Catalog.installed().entries:
        if entry.provides != "command" and entry.distribution.startswith("pippin"):
            classes(found, entry.load_table() if entry.provides == "table" else entry.load_config())
    return [each for each in found if each.__name__ not in ("Node", "Origin", "ConfigTree")]


def value_of(kind: Any) -> Any:
    """Return a value of the first of the types of a field."""
    first = next(alternatives(kind))
    plain: dict[Any, Any] = {float: 1.0, int: 1, str: "x", bool: False}
    if first in plain:
        return plain[first]
    if first is ComponentConfig:
        return ComponentConfig(type="x", config=None)
    if attrs.has(first):
        return made(first)
    if get_origin(first) is tuple:
        kinds = get_args(first)
        return (0.0, 1.0) if kinds == (float, float) else tuple(value_of(each) for each in kinds if each is not ...)
    return get_args(first)[0] if get_origin(first) is typing.Literal else {}


def made(kind: type, **changes: Any) -> Any:
    """Return a right table of a class with some changes."""
    hints = get_type_hints(kind)
    given = REQUIRED.get(kind.__name__, {})
    needed = [
        field
        for field in attrs.fields(kind)
        if field.init and (field.default is attrs.NOTHING or given.get(field.name) is ...)
    ]
    values = {field.alias: value_of(hints[field.name]) for field in needed}
    return kind(**{**given, **values, **{name: each for name, each in given.items() if each is not ...}, **changes})


def wrong_values(kind: type, name: str, hint: Any) -> Iterator[Any]:
    """Yield the values that a field must refuse."""
    is_unbounded, kinds = name in UNBOUNDED, list(alternatives(hint))
    if float in kinds:
        yield from [math.nan] if is_unbounded else [math.nan, math.inf, -math.inf]
    if (float in kinds or int in kinds) and name not in SIGNED and not name.startswith(SENTINELS):
        yield -1.0 if float in kinds else -1
    for each in kinds:
        if get_args(each) == (float, float):
            yield math.nan, 1.0
            yield from [] if is_unbounded else [(0.0, math.inf), (-math.inf, 0.0)]
            yield from [] if f"{kind.__name__}.{name}" in POINTS else [(1.0, 0.0)]
            yield from [(-1.0, 1.0), (0.0, 0.0)] if name.endswith("period") else []
        elif get_origin(each) is tuple and float in get_args(each):
            count = len(get_args(each)) - (... in get_args(each))
            yield from [(math.nan,) * count, (math.inf,) * count]
        elif get_origin(each) is Mapping and name not in FREE and float in alternatives(get_args(each)[1]):
            yield from [{"x": math.nan}, {"x": math.inf}]


def taken(kind: type) -> Iterator[str]:
    """Yield the fields of a class that take a wrong value, with that value."""
    made(kind)
    hints = get_type_hints(kind)
    for field in attrs.fields(kind):
        for value in wrong_values(kind, field.name, hints[field.name]) if field.init else ():
            try:
                made(kind, **{field.alias: value})
            except (ValueError, TypeError):
                continue
            yield f"{kind.__module__}.{kind.__name__}.{field.name} = {value}"


def test_numbers_that_mean_nothing_are_refused_by_every_class():
    found = every_class()

    assert len(found) > 100
    faults = [fault for kind in found for fault in taken(kind)]
    assert not faults, "\n".join(faults)
