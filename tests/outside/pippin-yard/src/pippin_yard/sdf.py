"""SDF, the format of Gazebo: links, hinges and sliders of the first model of a file."""

import math
import xml.etree.ElementTree as ET

import attrs
import newton
import pippin
import warp as wp
from attrs.validators import gt
from pippin.assets import Importer


@attrs.frozen(kw_only=True)
class SdfConfig:
    """Links, joints, boxes and spheres of an SDF file; everything else is refused."""

    implementation = "Sdf"

    density: float = attrs.field(default=1000.0, validator=gt(0.0))
    """Density of shapes of a link without an inertial [kg/m³]."""


class Sdf(Importer):
    """Reader of SDF."""

    suffixes = (".sdf",)
    options = frozenset({"floating"})

    def add_asset(self, builder, file, asset):
        """Add the first model of a file."""
        model = _root(file).find("model")
        if model is None:
            raise pippin.ConfigError("path: the file has no <model>; name another file")
        poses = {link.get("name"): _pose(link) for link in model.iter("link")}
        bodies = {link.get("name"): self._add_link(builder, link) for link in model.iter("link")}
        driven = {joint.findtext("child") for joint in model.iter("joint")}
        roots = [name for name in bodies if name not in driven]
        joints = [_add_root(builder, bodies[name], name, poses[name], asset.floating) for name in roots]
        joints += [_add_joint(builder, joint, bodies, poses) for joint in model.iter("joint")]
        builder.add_articulation(joints, label=model.get("name"))

    def _add_link(self, builder, link):
        inertial = link.find("inertial")
        mass = 0.0 if inertial is None else float(inertial.findtext("mass", "1"))
        moments = [0.0 if inertial is None else float(inertial.findtext(f"inertia/i{a}{a}", "1")) for a in "xyz"]
        inertia = wp.mat33(*[moments[row] if row == column else 0.0 for row in range(3) for column in range(3)])
        body = builder.add_link(label=link.get("name"), mass=mass, inertia=inertia, xform=_pose(link))
        shape = newton.ModelBuilder.ShapeConfig(density=0.0 if inertial is not None else self.config.density)
        for collision in link.iter("collision"):
            _add_shape(builder, body, collision, shape)
        return body


def _root(file):
    try:
        return ET.parse(file).getroot()
    except ET.ParseError as error:
        raise pippin.ConfigError(f"path: {str(file)!r} is not XML, {error}; correct it") from error


def _pose(element):
    x, y, z, roll, pitch, yaw = map(float, element.findtext("pose", "0 0 0 0 0 0").split())
    turn = wp.quat_identity()
    for axis, angle in (((1, 0, 0), roll), ((0, 1, 0), pitch), ((0, 0, 1), yaw)):
        turn = wp.quat_from_axis_angle(wp.vec3(*axis), angle) * turn
    return wp.transform(wp.vec3(x, y, z), turn)


def _add_shape(builder, body, collision, shape):
    label, pose = collision.get("name"), _pose(collision)
    if (size := collision.findtext("geometry/box/size")) is not None:
        hx, hy, hz = (float(length) / 2 for length in size.split())
        builder.add_shape_box(body, xform=pose, hx=hx, hy=hy, hz=hz, cfg=shape, label=label)
    elif (radius := collision.findtext("geometry/sphere/radius")) is not None:
        builder.add_shape_sphere(body, xform=pose, radius=float(radius), cfg=shape, label=label)
    else:
        raise pippin.ConfigError(f"path: collision {label!r} is neither a box nor a sphere; use one of these")


def _add_joint(builder, joint, bodies, poses):
    name, kind = joint.get("name"), joint.get("type")
    parent, child = joint.findtext("parent"), joint.findtext("child")
    add = {"revolute": builder.add_joint_revolute, "prismatic": builder.add_joint_prismatic}.get(kind)
    if add is None:
        raise pippin.ConfigError(f"path: joint {name!r} is {kind!r}; use revolute or prismatic")
    above = wp.transform_identity() if parent == "world" else poses[parent]
    place = wp.transform_multiply(wp.transform_inverse(above), poses[child])
    local = _pose(joint)
    lower, upper = (float(joint.findtext(f"axis/limit/{end}", str(far))) for end, far in _ENDS.items())
    return add(
        -1 if parent == "world" else bodies[parent],
        bodies[child],
        parent_xform=wp.transform_multiply(place, local),
        child_xform=local,
        axis=tuple(map(float, joint.findtext("axis/xyz", "0 0 1").split())),
        limit_lower=lower,
        limit_upper=upper,
        label=name,
    )


_ENDS = {"lower": -math.inf, "upper": math.inf}


def _add_root(builder, body, name, pose, floating):
    if floating is False:
        return builder.add_joint_fixed(-1, body, parent_xform=pose, label=f"{name}_root")
    return builder.add_joint_free(body, label=f"{name}_root")
