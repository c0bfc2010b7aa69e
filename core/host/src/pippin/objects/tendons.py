"""Sites and tendons of a scene, on the bodies of its robots and objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import warp as wp
from pippin.config.joints import SceneSiteConfig, TendonConfig, TendonGuideConfig
from pippin.errors import ConfigError

from .scene_bodies import SceneBodies


def add_sites(bodies: SceneBodies, sites: Sequence[SceneSiteConfig]) -> None:
    """Add the sites of a scene to the bodies of one world; those on objects of other worlds are left out."""
    _refuse_equal_labels("sites", sites)
    for index, config in enumerate(sites):
        if config.body in bodies.absent:
            bodies.absent_sites.add(config.label)
            continue
        body, origin = bodies.frame(config.body, f"scene.sites[{index}].body")
        pose: Any = wp.transform(config.position, config.rotation)
        bodies.builder.add_site(body, xform=origin * pose, label=config.label)


def add_tendons(bodies: SceneBodies, tendons: Sequence[TendonConfig]) -> None:
    """Add the tendons of a scene to one world; those over objects of other worlds are left out."""
    _refuse_equal_labels("tendons", tendons)
    for index, config in enumerate(tendons):
        if any(each.body in bodies.absent or each.site in bodies.absent_sites for each in config.guides):
            continue
        where = f"scene.tendons[{index}].guides"
        route = [
            _guide(bodies, guide, config, f"{where}[{number}]", is_first=not number)
            for number, guide in enumerate(config.guides)
        ]
        bodies.builder.add_tendon(route, label=config.label)


def _guide(
    bodies: SceneBodies, config: TendonGuideConfig, tendon: TendonConfig, where: str, *, is_first: bool
) -> newton.TendonGuide:
    """Return a guide with the properties of the span before it, which the first guide lacks."""
    if config.site is None:
        body, pose = bodies.frame(config.body, f"{where}.body")
    else:
        body, pose = bodies.site(config.site, f"{where}.site")
    position: Any = wp.vec3(*config.position)
    axis: Any = wp.vec3(*config.axis)
    values: dict[str, Any] = {"offset": wp.transform_point(pose, position), "axis": wp.transform_vector(pose, axis)}
    if not is_first:
        values["compliance"] = tendon.compliance if config.compliance is None else config.compliance
        values["damping"] = tendon.damping if config.damping is None else config.damping
        values["rest_length"] = -1.0 if config.rest_length is None else config.rest_length
    return newton.TendonGuide(
        body=body,
        guide_type=newton.TendonGuideType[config.type.upper()],
        radius=config.radius or 0.0,
        orientation=config.orientation,
        mu=config.mu,
        dynamic=config.is_dynamic,
        **values,
    )


def _refuse_equal_labels(key: str, tables: Sequence[SceneSiteConfig] | Sequence[TendonConfig]) -> None:
    labels = [each.label for each in tables]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            raise ConfigError(f"scene.{key}[{index}].label: {label!r} is the label of another one too; change it")
