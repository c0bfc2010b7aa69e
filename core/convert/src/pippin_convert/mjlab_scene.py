"""The scene of a task of mjlab, as files and tables of Pippin: robots, actuators, sensors and the solver."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .written import NoTwinError

Settings = Mapping[str, Any]

_UNIT = [1.0, 0.0, 0.0, 0.0]
_SOLVER = ("iterations", "ls_iterations", "ccd_iterations", "impratio", "cone", "integrator", "tolerance")
"""Numbers of the solver that have the same name."""


class MjlabScene:
    """A scene of mjlab: the robots, sensors and commands that terms refer to.

    Args:
        settings: The settings of the task, as `mjlab_reader` writes them.
        robots: What it writes of each robot.
    """

    def __init__(self, settings: Settings, robots: Mapping[str, Settings]) -> None:
        self._settings, self._robots = settings, robots
        self._sensors = {sensor["name"]: sensor for sensor in settings["scene"]["sensors"]}
        terrain = settings["scene"]["terrain"] or {}
        #: Whether the ground is a plane, or made of patches.
        self.has_plane: bool = terrain.get("terrain_type") == "plane" and not self._flag("contact")
        self.has_patches: bool = terrain.get("terrain_type") == "generator"
        biased = (label for label, term in settings["events"].items() if _function(term).endswith(":encoder_bias"))
        #: Label of the event with the encoders' errors.
        self.encoders: str | None = next(biased, None)
        kinds = ((label, action["type"]) for label, action in settings["actions"].items())
        #: Label of the action of joint positions.
        self.position_action: str = next((label for label, kind in kinds if kind == "JointPositionActionCfg"), "")
        #: Labels of commands that are written.
        self.commands: set[str] = set()
        self._written: set[str] = set()

    # Tables of the scene.

    def simulation(self) -> dict[str, Any]:
        """Return the table `[simulation]`."""
        return {"dt": self._settings["sim"]["mujoco"]["timestep"], "decimation": self._settings["decimation"]}

    def solver(self) -> dict[str, Any]:
        """Return the table `[solver]`."""
        numbers = self._settings["sim"]["mujoco"]
        return {"type": "mujoco", **{name: numbers[name] for name in _SOLVER}}

    def scene(self) -> dict[str, Any]:
        """Return the table `[scene]`; the ground of patches is for the caller."""
        gap = float(self._settings["scene"]["env_spacing"])
        assets = []
        for label, robot in self._robots.items():
            positions = {name: value for name, value in robot["initial"].items() if value}
            assets.append({"path": f"{label}/scene.xml", **({"joint_positions": positions} if positions else {})})
        ground = {"ground": True} if self.has_plane else {}
        return {"worlds": 64, "spacing": [gap, gap, 0.0], **ground, "assets": assets}

    def actuators(self) -> Iterator[tuple[str, Any]]:
        """Yield the label of each group of actuators, with its table or the reason why there is none."""
        for label, robot in self._robots.items():
            try:
                if groups := robot["actuators"]:
                    yield self.group_of(label), _group(groups, robot)
            except NoTwinError as error:
                yield self.group_of(label), error

    def group_of(self, robot: str) -> str:
        """Return the label of the actuators of a robot."""
        return "joints" if len(self._robots) == 1 else f"{robot}_joints"

    def sensors(self) -> Iterator[tuple[str, Any]]:
        """Yield the label of each sensor, with its table or the reason why there is none."""
        kinds = {
            "ContactSensorCfg": self._contact,
            "RayCastSensorCfg": self._rays,
            "TerrainHeightSensorCfg": self._rays,
        }
        for label, sensor in self._sensors.items():
            try:
                if sensor["type"] not in kinds:
                    raise NoTwinError("Pippin has no such sensor")
                table = kinds[sensor["type"]](sensor)
                self._written.add(label)
                yield label, table
            except NoTwinError as error:
                yield label, error

    # What terms refer to.

    def root(self, params: Settings) -> dict[str, Any]:
        """Return the key `body` for the root of a robot; nothing for the only robot."""
        return {} if len(self._robots) == 1 else {"body": self._robot(params)["bodies"][0]}

    def body(self, params: Settings) -> dict[str, Any]:
        """Return the key `body` for the body that is chosen, or the root."""
        names = self.patterns(params, "body_names")
        if len(names) > 1:
            raise NoTwinError(f"several bodies: {', '.join(names)}")
        return {"body": names[0]} if names else self.root(params)

    def joints(self, params: Settings) -> dict[str, Any]:
        """Return the key `joints`; nothing for all joints of the only robot."""
        names = self.patterns(params, "joint_names")
        if names and names != [".*"]:
            return {"joints": names}
        return {} if len(self._robots) == 1 else {"joints": self._robot(params)["joints"]}

    def points(self, params: Settings) -> dict[str, Any]:
        """Return the keys `bodies` and `offset` for the sites that are chosen."""
        return self._points(self.patterns(params, "site_names"), self._robot(params)["sites"])

    def shapes(self, params: Settings) -> dict[str, Any]:
        """Return the keys `bodies` and `shapes` for the geoms that are chosen."""
        geoms, patterns = self._robot(params)["geoms"], self.patterns(params, "geom_names")
        bodies = [body for geom, body in geoms.items() if any(re.fullmatch(each, geom) for each in patterns)]
        return {"bodies": list(dict.fromkeys(bodies)), "shapes": patterns}

    def patterns(self, params: Settings, key: str) -> list[str]:
        """Return the patterns of a choice of parts; none for all of them."""
        chosen = (params.get("asset_cfg") or {}).get(key)
        return [chosen] if isinstance(chosen, str) else list(chosen or ())

    def soft_limits(self, params: Settings) -> float:
        """Return the share of the joints' limits that a robot keeps to."""
        return float(self._robot(params)["soft_limits"])

    def sensor_of_file(self, name: str) -> tuple[str, Settings, dict[str, Any]]:
        """Return the kind of a sensor of a robot's file, its site, and the key `body`."""
        robot, _, sensor = name.partition("/")
        found = self._robots[robot]["sensors"][sensor]
        site = self._robots[robot]["sites"].get(found["of"])
        if site is None or site["turn"] != _UNIT:
            raise NoTwinError(f"a sensor {found['type']!r} that is at no site, or at a turned one")
        return found["type"], site, {"body": site["body"]}

    def subtree(self, name: str) -> tuple[str, dict[str, Any]]:
        """Return the kind of a sensor of a whole robot, and nothing, or the key `bodies` for one of several robots."""
        label, _, sensor = name.partition("/")
        robot = self._robots[label]
        found = robot["sensors"][sensor]
        if found["of"] != robot["bodies"][0]:
            raise NoTwinError(f"a sensor of a part of the robot, below {found['of']!r}")
        return found["type"], {} if len(self._robots) == 1 else {"bodies": robot["bodies"]}

    def sensor(self, params: Settings) -> tuple[str, Settings]:
        """Return the label of a sensor of the scene, and its settings."""
        label = params["sensor_name"]
        if label not in self._written:
            raise NoTwinError(f"its sensor {label!r} has no twin")
        return label, self._sensors[label]

    def is_of_itself(self, sensor: Settings) -> bool:
        """Tell whether a contact sensor senses a whole robot that touches itself."""
        first, second = sensor["primary"], sensor["secondary"]
        return second is not None and all(
            each["mode"] == "subtree" and each["pattern"] == self._robot_of(each)["bodies"][0]
            for each in (first, second)
        )

    def command(self, params: Settings) -> str:
        """Return the label of a command."""
        label = params["command_name"]
        if label not in self.commands:
            raise NoTwinError(f"its command {label!r} has no twin")
        return str(label)

    def settings_of_command(self, params: Settings) -> Settings:
        """Return the settings of a command."""
        found: Settings = self._settings["commands"][self.command(params)]
        return found

    def in_order(self, names: Sequence[str]) -> list[str]:
        """Return bodies that stand in the order of their robot, as the numbers of a quantity do."""
        bodies = next(iter(self._robots.values()))["bodies"]
        if [body for body in bodies if body in names] != list(names):
            raise NoTwinError("bodies in another order than that of the robot")
        return list(names)

    def _flag(self, name: str) -> bool:
        return name in self._settings["sim"]["mujoco"]["disableflags"]

    def _robot(self, params: Settings) -> Settings:
        label = (params.get("asset_cfg") or {}).get("name")
        return self._robots[label] if label in self._robots else next(iter(self._robots.values()))

    def _robot_of(self, match: Settings) -> Settings:
        return self._robots.get(match["entity"] or "", {"bodies": [None], "sites": {}, "geoms": {}})

    def _points(self, patterns: Sequence[str], sites: Mapping[str, Any]) -> dict[str, Any]:
        found = [site for name, site in sites.items() if any(re.fullmatch(each, name) for each in patterns)]
        places = {tuple(site["place"]) for site in found}
        if len(places) != 1:
            raise NoTwinError(f"sites at {len(places)} places of their bodies; one for all can be written")
        return {"bodies": [site["body"] for site in found], "offset": list(places.pop())}

    def _contact(self, sensor: Settings) -> dict[str, Any]:
        first, second = sensor["primary"], sensor["secondary"]
        history = {"history": sensor["history_length"]} if sensor["history_length"] else {}
        table = {"type": "contact", "threshold": 0.0, **history}
        if self.is_of_itself(sensor):
            return table | {"bodies": [".*"], "partners": [".*"]}
        names = [first["pattern"]] if isinstance(first["pattern"], str) else list(first["pattern"])
        key = "shapes" if first["mode"] == "geom" else "bodies"
        if first["exclude"]:
            raise NoTwinError("a choice with exceptions")
        if second is None:
            return table | {key: names}
        if second["mode"] != "body" or second["pattern"] != "terrain":
            raise NoTwinError(
                f"contact with {second['pattern']!r}; that with the ground, or with itself, can be written"
            )
        ground = ["terrain/.*"] if self.has_patches else ["ground_plane"]
        return table | {key: [name.strip("^$") for name in names], "partners": ground, "counted": "partners"}

    def _rays(self, sensor: Settings) -> dict[str, Any]:
        frames = sensor["frame"] if isinstance(sensor["frame"], list) else [sensor["frame"]]
        kinds, names = {frame["type"] for frame in frames}, [frame["name"] for frame in frames]
        if len(kinds) != 1 or kinds - {"body", "site"} or (kinds == {"body"} and len(names) > 1):
            raise NoTwinError("rays from several bodies, or from geoms")
        place = {"body": names[0]} if kinds == {"body"} else {"site": f"({'|'.join(names)})"}
        table = {"type": "ray-caster", **place, "align": _ALIGNMENTS[sensor["ray_alignment"]]}
        pattern = sensor["pattern"]
        if pattern["type"] == "GridPatternCfg":
            grid = {"size": pattern["size"], "resolution": pattern["resolution"]}
        elif self.has_plane:  # all rays of a ring meet a plane at the same height
            grid = {"size": [0.0, 0.0], "resolution": 0.1}
        else:
            raise NoTwinError(f"rays in a {pattern['type']}; those of a grid can be written")
        ground = ["terrain/.*"] if self.has_patches else ["ground_plane"]
        reach = sensor["max_distance"]
        if sensor["type"] == "TerrainHeightSensorCfg":  # of soles, which may be below the ground
            grid["start_height"], reach = _ABOVE, reach + _ABOVE
        return table | {"targets": ground, "grid": grid, "max_distance": reach}


_ABOVE = 0.5
"""Height above a sole at which its rays start [m]."""

_ALIGNMENTS = {"base": "body", "yaw": "yaw", "world": "world"}


def _function(term: Settings) -> str:
    return str((term.get("func") or {}).get("function", ""))


def _group(groups: Sequence[Settings], robot: Settings) -> dict[str, Any]:
    """Return the table of all actuators of a robot."""
    kinds = {group["type"] for group in groups}
    if kinds == {"XmlActuatorCfg"}:
        names = [name for name, joint in robot["inputs"].items() if any(joint in group["joints"] for group in groups)]
        return {"type": "control", "actuators": names}
    if kinds - {"BuiltinPositionActuatorCfg"}:
        raise NoTwinError(f"actuators of the kinds {', '.join(sorted(kinds))}")
    if any(group["delay_max_lag"] for group in groups):
        raise NoTwinError("actuators whose targets are late")
    keys = {"kp": "stiffness", "kd": "damping", "effort_limit": "effort_limit"}
    table: dict[str, Any] = {"type": "pd", "joints": [name for group in groups for name in group["joints"]]}
    for key, name in keys.items():
        numbers = {pattern: group[name] for group in groups for pattern in group["target_names_expr"]}
        if None not in numbers.values():
            table[key] = numbers
    return table
