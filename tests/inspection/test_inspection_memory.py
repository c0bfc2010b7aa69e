"""Claims about the memory of a simulation: all arrays are counted, once, with their owner, and waste is named."""

import json

import newton
import pippin
import pytest
import warp as wp
from click.testing import CliRunner
from pippin.cli import main
from pippin.measuring.memory import Count, MemoryUse, measure

HOARD = """
import attrs
import pippin
import warp as wp

@attrs.frozen(kw_only=True)
class HoardConfig:
    implementation = "Hoard"

class Hoard:
    def __init__(self, config):
        pass

    @pippin.hookimpl
    def bind(self, simulation):
        worlds = simulation.world_count
        self.rows = wp.zeros((worlds, 100), dtype=float, device=simulation.device)
        self.view = self.rows[0]
        self.nested = {"list": [(wp.zeros(25, dtype=float, device=simulation.device),)]}
        self.host = simulation
        self.steps = wp.zeros(max(20, worlds) ** 2, dtype=float, device=simulation.device) if STEPPED else None
"""


def drops() -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_particle_grid(
        pos=wp.vec3(0.0, 0.0, 1.0), rot=wp.quat_identity(), vel=wp.vec3(), dim_x=8, dim_y=8, dim_z=8,
        cell_x=0.1, cell_y=0.1, cell_z=0.1, mass=0.1, jitter=0.0,
    )  # fmt: skip
    return builder


def ball() -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_shape_sphere(builder.add_body(xform=wp.transform(wp.vec3(0.0, 0.0, 0.09))), radius=0.1)
    return builder


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["ant", "quadruped", "sensors", "particles"])
def test_the_sum_of_the_owners_is_what_warp_has_allocated(scene):
    if scene == "particles":
        tables = {
            "simulation": {"device": "cpu"},
            "solver": {"type": "semi-implicit", "disable_particle_contacts": True},
        }
        config, prototype = pippin.structure(tables), drops()
    else:
        config, prototype = pippin.load(f"docs/examples/{scene}.toml", {"simulation.device": "cpu"}), None

    count = Count(config, 4, prototype, steps=2)

    assert count.held == pytest.approx(count.tracked, rel=0.05)


def inspected(tmp_path, hoard: str = HOARD.replace("STEPPED", "False"), **tables) -> MemoryUse:
    (tmp_path / "hoard.py").write_text(hoard)
    tables |= {
        "simulation": {"device": "cpu"},
        "scene": {"worlds": 10, "ground": True},
        "solver": {"type": "semi-implicit"},
        "plugins": {"hoard": {"type": f"{tmp_path / 'hoard.py'}:HoardConfig"}},
    }
    return measure(pippin.structure(tables), ball())


@pytest.mark.slow
def test_an_owner_has_its_bytes_for_each_world_and_fixed(tmp_path):
    memory = inspected(tmp_path)

    [owner] = [owner for owner in memory.owners if owner.name == "plugins.hoard"]
    assert (owner.per_world, owner.fixed, owner.is_linear) == (400.0, 100.0, True)
    assert all(each.is_linear for each in memory.owners)
    assert memory.fits[8] == int((8e9 - memory.fixed) / memory.per_world)


@pytest.mark.slow
def test_an_owner_that_does_not_grow_in_a_line_is_named(tmp_path):
    memory = inspected(tmp_path, HOARD.replace("STEPPED", "True"))

    assert [owner.name for owner in memory.owners if not owner.is_linear] == ["plugins.hoard"]


@pytest.mark.slow
def test_a_buffer_with_too_much_room_is_named_with_a_size_that_is_enough(tmp_path):
    memory = inspected(tmp_path, collision={"rigid_contact_max": 4000})

    waste = memory.wastes[0]
    assert (waste.key, waste.room, waste.used) == ("collision.rigid_contact_max", 4000, 10)
    assert waste.saved > 4000 * 68  # a contact has two shapes, two points, two offsets, a normal and two margins
    smaller = inspected(tmp_path, collision={"rigid_contact_max": waste.enough})
    assert waste.key not in [each.key for each in smaller.wastes]


@pytest.mark.slow
def test_room_for_nonzeros_is_counted_where_the_jacobian_is_sparse(tmp_path):
    """A box rests on four corners: up to 4 rows of 6 nonzeros for each of 4 edges of a pyramid of friction."""
    box = '<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    found = {}
    for kind in ("sparse", "dense"):
        path = tmp_path / f"{kind}.xml"
        path.write_text(f'<mujoco><option jacobian="{kind}" cone="pyramidal"/><worldbody>{box}</worldbody></mujoco>')
        tables = {
            "simulation": {"device": "cpu", "dt": 0.002},
            "scene": {"ground": True, "assets": [{"path": str(path)}]},
            "solver": {"type": "mujoco", "njmax_nnz": 5000},
        }
        found[kind] = {waste.key: waste for waste in measure(pippin.structure(tables)).wastes}

    waste = found["sparse"]["solver.njmax_nnz"]
    assert (waste.room, waste.used % 6, 0 < waste.used <= 96) == (5000, 0, True)
    assert "solver.njmax_nnz" not in found["dense"]


@pytest.mark.slow
def test_the_command_prints_the_figures_as_json():
    arguments = ["inspect", "docs/examples/cartpole.toml", "--memory", "--device", "cpu", "--json"]
    [contents] = json.loads(CliRunner().invoke(main, arguments).stdout)

    figures = contents["memory"]
    assert figures["fits"]["24"] == int((24e9 - figures["fixed"]) / figures["per_world"])
    assert {owner["name"] for owner in figures["owners"]} >= {"model", "state", "solver", "actuators.cart"}


@pytest.mark.slow
def test_worlds_that_repeat_are_counted_by_their_average():
    """A cube in every second world, ten balls in every third one, a ball in all: 29 bodies in six worlds."""
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}], "position": [0, 0, 3]}
    cube = {"type": "body", "label": "cube", "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}], "worlds": "::2"}
    row = {**ball, "label": "row", "worlds": "1::3", "position": [0, 0, 1]}
    row["repeat"] = {"count": [10, 1, 1], "spacing": [0.5, 0.0, 0.0]}
    tables = {"simulation": {"device": "cpu"}, "solver": {"type": "semi-implicit"}}
    one, mixed = (
        pippin.structure({**tables, "scene": {"worlds": 12, "objects": found}}) for found in ([ball], [ball, cube, row])
    )

    memory = measure(mixed)

    [state] = [owner for owner in memory.owners if owner.name == "state"]
    assert memory.worlds[:2] == (12, 24)
    assert all(owner.is_linear for owner in memory.owners)
    assert state.per_world == pytest.approx(29 / 6 * Count(one, 2, None, steps=1).owners["state"] / 2)


@pytest.mark.parametrize("worlds", ["0:1", [0], "3::2", "::-1"])
def test_worlds_that_do_not_repeat_are_refused(worlds):
    with pytest.raises(pippin.ConfigError, match=r"scene\.assets"):
        pippin.inspect("docs/examples/cartpole.toml", {"scene.assets.0.worlds": worlds}, memory=True)
