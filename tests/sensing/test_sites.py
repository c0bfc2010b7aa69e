"""Claims about the places of sensors: bodies, and the sites that an asset brings with it."""

import newton
import pytest
import warp as wp
from pippin import ConfigError
from pippin.sensing import SiteConfig, add_sites

TURN = (0.0, 0.0, 0.5**0.5, 0.5**0.5)  # a quarter about z


@pytest.fixture
def builder() -> newton.ModelBuilder:
    """Return a trunk with two sites of its own, and one of the world."""
    builder = newton.ModelBuilder()
    trunk = builder.add_link(label="dog/trunk")
    builder.add_site(trunk, xform=wp.transform((1.0, 0.0, 0.0), TURN), label="dog/trunk/imu")
    builder.add_site(trunk, label="dog/trunk/head")
    builder.add_site(-1, label="dog/mark")
    return builder


def test_a_site_of_the_asset_is_taken_as_it_is(builder):
    found = add_sites(builder, SiteConfig(site="imu"))

    assert found == [0]
    assert builder.shape_count == 3


def test_a_shift_is_in_the_frame_of_the_site(builder):
    [found] = add_sites(builder, SiteConfig(site="imu", position=(0.5, 0.0, 0.0)))

    assert builder.shape_label[found] == "dog/trunk/imu/site"
    assert builder.shape_body[found] == 0
    assert tuple(builder.shape_transform[found].p) == pytest.approx((1.0, 0.5, 0.0), abs=1e-6)


def test_sites_that_other_sensors_added_are_not_the_assets(builder):
    add_sites(builder, SiteConfig(body="trunk"))

    with pytest.raises(ConfigError, match=r"^site: no site matches 'site'; sites: imu, head, mark"):
        add_sites(builder, SiteConfig(site="site"))


def test_an_unknown_site_is_refused_with_the_nearest_one(builder):
    with pytest.raises(ConfigError, match=r"^site: no site matches 'imo'; did you mean 'imu'\? sites: imu, head"):
        add_sites(builder, SiteConfig(site="imo"))


def test_a_site_of_the_world_is_refused(builder):
    with pytest.raises(ConfigError, match=r"^site: 'dog/mark' belongs to the world"):
        add_sites(builder, SiteConfig(site="mark"))


@pytest.mark.parametrize(("given", "found"), [({}, "none"), ({"body": "trunk", "site": "imu"}, "both")])
def test_exactly_one_place_is_given(given, found):
    with pytest.raises(ValueError, match=f"exactly one of body, site must be given: {found}"):
        SiteConfig(**given)
