"""Two solvers over one engine, `mujoco` and `mujoco-native`: what both declare and take reads and is checked alike."""

import pytest
from pippin.config.fields import field_texts, fields_of
from pippin.support.declaration import Declaration
from pippin_solver_mujoco import MuJoCoConfig
from pippin_solver_mujoco.solver import SolverMuJoCo
from pippin_solver_mujoco_native import MuJoCoNativeConfig
from pippin_solver_mujoco_native.solver import SolverMuJoCoNative

WARP, NATIVE = ({field.name: field for field in fields_of(each)} for each in (MuJoCoConfig, MuJoCoNativeConfig))
SHARED = [name for name in WARP if name in NATIVE]


def test_most_settings_of_the_native_solver_are_shared():
    assert len(SHARED) >= 20
    assert set(NATIVE) - set(SHARED) == {"environment", "threads", "timeout"}


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_setting_has_one_type_default_bound_and_docstring(name):
    one, other = WARP[name], NATIVE[name]

    assert (one.type, one.default, repr(one.validator)) == (other.type, other.default, repr(other.validator))
    assert field_texts(MuJoCoConfig)[name] == field_texts(MuJoCoNativeConfig)[name]


def test_each_setting_of_warp_alone_is_refused_by_the_native_solver():
    only_warp = set(WARP) - set(NATIVE) - {"separate_worlds", "disable_sensors", "kinematic_switchable_roots"}

    assert only_warp == set(MuJoCoNativeConfig.replaced_keys)


def test_both_take_part_in_the_same_features():
    warp, native = (Declaration.of(plugin, "solver") for plugin in (SolverMuJoCo, SolverMuJoCoNative))

    alone = {("ball_drives", "live"), ("different_meshes", "build"), ("kinematic_bodies", "live")}
    assert native.supported_features.items() == warp.supported_features.items() - alone
