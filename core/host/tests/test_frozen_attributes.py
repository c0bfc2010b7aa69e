"""Attributes that nobody can add or replace once an object is complete."""

import pytest
from pippin.frozen_attributes import FrozenAttributes, freeze


class Wheel(FrozenAttributes):
    """A wheel."""

    _assignable = frozenset({"is_valid"})

    def __init__(self):
        self.radius, self.is_valid, self._turns = 0.3, True, 0
        freeze(self)

    @property
    def speed(self):
        """The speed."""
        return self._turns

    @speed.setter
    def speed(self, value):
        self._turns = value

    @property
    def width(self):
        """The width, which fails."""
        return self.mass.radius

    @property
    def mass(self):
        """The mass."""
        return 1.0

    def set_torques(self, value):
        """Set torques."""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("radius", "radius: fixed when the Wheel is made"),
        ("mass", "mass: fixed when the Wheel is made"),
        ("radus", "radus: Wheel has no such attribute; did you mean 'radius'?"),
        ("colour", "colour: Wheel has no such attribute; see its reference"),
        ("torques", r"torques: no attribute of Wheel to be assigned; call set_torques\(…\)"),
    ],
)
def test_an_assignment_is_refused_with_a_cure(name, message):
    with pytest.raises(AttributeError, match=message):
        setattr(Wheel(), name, 1.0)


def test_a_missing_attribute_suggests_the_nearest_one():
    with pytest.raises(AttributeError, match="Wheel has no attribute 'radus'; did you mean 'radius'"):
        _ = Wheel().radus
    with pytest.raises(AttributeError, match="Wheel has no attribute 'colour'; see its reference"):
        _ = Wheel().colour
    with pytest.raises(AttributeError, match="'float' object has no attribute 'radius'"):
        _ = Wheel().width


def test_setters_and_what_an_object_keeps_for_itself_are_assigned():
    wheel = Wheel()
    wheel.speed, wheel.is_valid, wheel._turns = 2.0, False, 3.0

    assert (wheel.speed, wheel.is_valid) == (3.0, False)


class Tyre(Wheel):
    """A wheel whose subclasses replace what they have."""

    _may_replace = True


def test_what_exists_may_be_replaced_where_subclasses_need_it():
    tyre = Tyre()
    tyre.radius = 0.4

    assert tyre.radius == 0.4
    with pytest.raises(AttributeError, match="no such attribute"):
        tyre.radus = 0.4
