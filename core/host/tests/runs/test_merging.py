"""What several processes ran, as one."""

from pippin.runs.merging import merged


def part(**facts):
    program = {"captured": True, "eager_reasons": {}, "segments": []}
    tables = {"imports": {}, "matter": {}, "plugins": {}, "versions": {}, "hardware": {}}
    return {"program": program, "notes": {}, "capacities": [], "iteration_limit_count": 0, **tables, **facts}


def test_a_note_of_all_is_told_once_and_another_one_with_its_worlds():
    whole = merged(
        {
            "worlds 0:2": part(notes={"scene": ["no floor"]}),
            "worlds 2:4": part(notes={"scene": ["no floor", "too light"], "start": ["2 overlaps"]}),
        }
    )

    assert whole["notes"] == {"scene": ["no floor", "worlds 2:4: too light"], "start": ["worlds 2:4: 2 overlaps"]}


def test_limits_of_iterations_are_counted_together():
    whole = merged(
        {"world 0": part(iteration_limit_count=1), "world 1": part(notes={"solver": ["slow"]}, iteration_limit_count=4)}
    )

    assert whole["notes"]["solver"][0] == "world 1: slow"
    assert "5 times (substeps of all worlds)" in whole["notes"]["solver"][1]


def test_rooms_are_added_unless_they_are_of_each_world():
    def rows(contacts, constraints):
        return [
            {"field": "solver.nconmax", "holds": "contacts", "allocated": contacts, "is_per_world": False},
            {"field": "solver.njmax", "holds": "rows", "allocated": constraints, "is_per_world": True},
        ]

    whole = merged({"worlds 0:3": part(capacities=rows(60, 24)), "worlds 3:5": part(capacities=rows(40, 24))})

    assert [row["allocated"] for row in whole["capacities"]] == [100, 24]
    assert set(whole["capacities"][0]) == {"field", "holds", "allocated"}


def test_a_step_is_captured_if_it_is_so_in_all():
    eager = {"captured": False, "eager_reasons": {"solver": "it reads the host"}, "segments": []}

    whole = merged({"world 0": part(), "world 1": part(program=eager)})

    assert whole["program"] == eager
