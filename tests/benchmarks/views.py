"""Views beside Newton's own and plain copies: `uv run python tests/benchmarks/views.py [--device cuda:0]`.

Each side reads into an array of its own, dense in rows, or writes from one: a robot of twelve hinges, in 64 and 4096
worlds, every row or one in ten. Newton's view returns its rows where they are, so what its user has to copy is copied;
its rows are chosen by a mask, ours by indices on the device. Our settings also note what follows from them. All sides
must give the same numbers. Contact forces stand beside Newton's sensor, which also splits off friction. A figure is
the median of the ratios of neighbouring runs: more than 1 is faster.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from in_turn import in_turn

from actuators import DOFS, robot

Call = Callable[[], object]


@attrs.frozen
class Case:
    """The same work three times."""

    ours: Call
    newtons: Call
    numpys: Call
    """A strided copy of the same bytes on the CPU."""
    result: Callable[[], np.ndarray]
    """What all of them read or write."""


class Bench:
    """A simulation, the views of it, and an array of each kind of rows."""

    def __init__(self, worlds: int, device: str) -> None:
        tables = {
            "simulation": {"device": device, "dt": 0.002},
            "scene": {"worlds": worlds},
            "solver": {"type": "featherstone"},
        }
        builder = robot()
        builder.articulation_label[0] = "robot"
        self.simulation = pippin.Simulation(pippin.structure(tables), prototype=builder)
        self.view = self.simulation.view.articulations("robot")
        model = self.simulation.model
        self.newtons = newton.selection.ArticulationView(model, "robot")
        free = [newton.JointType.FREE]
        self.newtons_dofs = newton.selection.ArticulationView(model, "robot", exclude_joint_types=free)
        rows = np.arange(0, worlds, 10)
        self.worlds, self.rows = worlds, rows
        self.indices = wp.array(rows, dtype=int, device=device)
        self.mask = wp.array(np.isin(np.arange(worlds), rows), dtype=bool, device=device)

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Yield every case with its name."""
        state = self.simulation.state
        joint_q = state.joint_q.numpy().reshape(self.worlds, -1)
        body_q = state.body_q.numpy().reshape(self.worlds, -1)
        dofs, dofs_view, root_view = self.newtons_dofs, joint_q[:, 7:], joint_q[:, :7]
        yield from self._of("DOF positions", "dof_positions", dofs.get_dof_positions, dofs.set_dof_positions, dofs_view)
        newtons = self.newtons
        roots = (newtons.get_root_transforms, newtons.set_root_transforms)
        yield from self._of("root transforms", "root_transforms", *roots, root_view)
        yield from self._of("link transforms", "link_transforms", newtons.get_link_transforms, None, body_q)
        yield from self.model_cases()

    def model_cases(self) -> Iterator[tuple[str, Case]]:
        """Yield the reading of quantities of the model, whose numbers lie in other layouts than the rows'."""
        model, worlds = self.simulation.model, self.worlds
        inside = {
            name: getattr(model, name).numpy().reshape(worlds, -1, *getattr(model, name).numpy().shape[1:])
            for name in ("body_mass", "body_com", "joint_limit_lower", "joint_limit_upper")
        }
        dofs = slice(6, None)
        yield self._model_case("masses", self.newtons, {0: ("body_mass", inside["body_mass"])})
        yield self._model_case("coms", self.newtons, {range(3): ("body_com", inside["body_com"])})
        limits = {
            part: (name, inside[name][:, dofs]) for part, name in enumerate(("joint_limit_lower", "joint_limit_upper"))
        }
        yield self._model_case("dof_limits", self.newtons_dofs, limits)

    def _model_case(
        self, name: str, view: newton.selection.ArticulationView, parts: dict[Any, tuple[str, np.ndarray]]
    ) -> tuple[str, Case]:
        """Return a case whose parts are components of the rows; NumPy puts them into the rows' layout."""
        model, get = self.simulation.model, getattr(self.view, f"get_{name}")
        own = get().numpy()
        plain = np.zeros_like(own)
        theirs = {part: wp.clone(view.get_attribute(array, model)) for part, (array, _) in parts.items()}

        def components(rows: np.ndarray, part: Any) -> np.ndarray:
            return (
                rows if rows.ndim == 2 else rows[..., slice(part.start, part.stop) if isinstance(part, range) else part]
            )

        def copy_newtons() -> None:
            for part, (array, _) in parts.items():
                wp.copy(theirs[part], view.get_attribute(array, model))

        def copy() -> None:
            for part, (_, inside) in parts.items():
                np.copyto(components(plain, part), inside)

        def results() -> np.ndarray:
            ours = [components(own, part).ravel() for part in parts]
            of_newton = [theirs[part].numpy().ravel() for part in parts]
            return np.concatenate([*ours, *of_newton, *(components(plain, part).ravel() for part in parts)])

        return f"{name.replace('_', ' ')}, get", Case(get, copy_newtons, copy, results)

    def _of(
        self, title: str, name: str, get: Callable[..., wp.array], put: Callable[..., None] | None, inside: np.ndarray
    ) -> Iterator[tuple[str, Case]]:
        state = self.simulation.state
        ours, theirs = getattr(self.view, f"get_{name}")(), wp.clone(get(state))
        own, plain = ours.numpy().reshape(self.worlds, -1), np.empty_like(inside)
        yield (
            f"{title}, get",
            Case(
                getattr(self.view, f"get_{name}"),
                lambda: wp.copy(theirs, get(state)),
                lambda: np.copyto(plain, inside),
                lambda: np.concatenate([own, theirs.numpy().reshape(self.worlds, -1), plain]),
            ),
        )
        if put is None:
            return
        data, values = wp.clone(ours), np.ascontiguousarray(own)
        setter = getattr(self.view, f"set_{name}")

        def copy_rows() -> None:
            inside[self.rows] = values[self.rows]

        everything = (lambda: setter(data), lambda: put(state, theirs), lambda: np.copyto(inside, values))
        tenth = (lambda: setter(data, self.indices), lambda: put(state, theirs, mask=self.mask), copy_rows)
        for what, calls in (("set", everything), ("set 10 %", tenth)):
            yield f"{title}, {what}", Case(*calls, lambda: np.concatenate([inside, inside, inside]))


class ContactBench:
    """Four boxes on the ground in each world, sixteen contacts, in their first steps."""

    def __init__(self, worlds: int, device: str) -> None:
        tables = {
            "simulation": {"device": device, "dt": 0.002, "observables": ["contact_f"]},
            "scene": {"worlds": worlds, "ground": True},
            "solver": {"type": "xpbd"},
        }
        builder = newton.ModelBuilder()
        for index in range(4):
            place = wp.transform(wp.vec3(float(index), 0.0, 0.1), wp.quat_identity())
            builder.add_shape_box(builder.add_body(label=f"box_{index}", xform=place), hx=0.1, hy=0.1, hz=0.1)
        self.simulation = pippin.Simulation(pippin.structure(tables), prototype=builder)
        self.simulation.step(3)
        self.simulation.raise_errors()
        self.view = self.simulation.view.contacts("box_*")
        self.newtons = newton.sensors.SensorContact(
            self.simulation.model, sensing_bodies="box_*", request_contact_attributes=False
        )

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Yield the reading of net forces; what NumPy copies is the force of every contact, as they are stored."""
        simulation, sensor = self.simulation, self.newtons
        contacts, observables = simulation.contacts, simulation.observables
        count = int(contacts.rigid_contact_count.numpy()[0])
        forces = observables.contact_f.numpy()[:count, :3]
        plain = np.empty_like(forces)

        def results() -> np.ndarray:
            ours = self.view.net_forces().numpy()
            assert (np.abs(ours).max(axis=1) > 1.0).all(), "every box touches the ground"
            return np.concatenate([ours, sensor.total_force.numpy(), ours])

        yield (
            "net contact forces, get",
            Case(
                self.view.net_forces,
                lambda: sensor.update(simulation.state, contacts, observables=observables),
                lambda: np.copyto(plain, forces),
                results,
            ),
        )


def ratios(case: Case, device: wp.Device, other: Call) -> Iterator[float]:
    """Yield the other's time over ours, run by run."""

    def repeated(call: Call) -> Callable[[int], None]:
        def repeat(count: int) -> None:
            for _ in range(count):
                call()

        return repeat

    # Short, so that other processes seldom interrupt a spell.
    turns = in_turn(repeated(case.ours), repeated(other), device, spell=0.001)
    yield from (theirs / ours for ours, theirs in turns)


def agree(case: Case) -> None:
    """See that the three sides read or wrote the same."""
    for call in (case.ours, case.newtons, case.numpys):
        call()
    ours, theirs, plain = np.split(case.result(), 3)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours, plain)


def main() -> None:
    """Print one row for each case and number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    device = wp.get_device(arguments.device)
    print(f"| of {DOFS} DOFs | worlds | ÷ newton.selection | ÷ NumPy copy |\n|---|---|---|---|")
    for worlds in (64, 4096):
        benches = (bench(worlds, arguments.device) for bench in (Bench, ContactBench))
        for title, case in (case for bench in benches for case in bench.cases()):
            agree(case)
            beside = statistics.median(ratios(case, device, case.newtons))
            plain = "" if device.is_cuda else f"{statistics.median(ratios(case, device, case.numpys)):.2f}"
            print(f"| {title} | {worlds} | {beside:.2f} | {plain} |", flush=True)


if __name__ == "__main__":
    main()
