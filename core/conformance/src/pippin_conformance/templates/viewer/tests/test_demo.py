"""Tests of this viewer's lines."""


def test_it_prints_the_heights_of_the_chosen_worlds(simulate, capsys):
    with simulate(scene={"worlds": 3}, viewers={"text": {"type": "demo", "worlds": [0, 2]}}):
        lines = capsys.readouterr().err.splitlines()

    assert "t = 0.00 s: 2.00, 2.00 m" in lines
