"""What `pippin.views` gives, and what its import costs."""

import subprocess
import sys

import pippin.views
import pytest

VIEWS = {
    "Array",
    "ArticulationView",
    "CableView",
    "ParticleView",
    "RigidBodyView",
    "RigidContactView",
    "SimulationView",
}
"""Names that are imported at first use; an `Array` may be one of Warp."""


def imported_by(code):
    """Return which of Newton and Warp a fresh interpreter has imported after some code."""
    script = f"{code}; import sys; print(*sorted({{'newton', 'warp'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_types_are_imported_before_newton_and_warp():
    names = ", ".join(sorted(set(pippin.views.__all__) - VIEWS))

    assert "ObjectType" in names
    assert imported_by(f"from pippin.views import {names}") == []


@pytest.mark.slow
def test_a_view_is_imported_when_it_is_asked_for():
    assert imported_by("from pippin.views import RigidBodyView") == ["newton", "warp"]


@pytest.mark.parametrize("name", pippin.views.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(pippin.views, name).__doc__


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'pippin\.views' has no attribute 'RigidBodiesView'"):
        pippin.views.RigidBodiesView  # noqa: B018
