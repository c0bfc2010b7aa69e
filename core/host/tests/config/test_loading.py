"""Files that somebody wrote to waste time or memory: each is refused soon, and by a ConfigError."""

import time

import pippin
import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(name="0.toml"):
    """Return the faults of a file, and the processor time that they took [s]."""
    begin = time.process_time()
    with pytest.raises(pippin.ConfigError) as caught:
        pippin.load(name)
    return caught.value.faults, time.process_time() - begin


def test_a_file_that_several_ones_extend_is_read_once(folder):
    for number in range(19):
        (folder / f"{number}.toml").write_text(f'extends = ["{number + 1}.toml", "{number + 1}.toml"]\n')
    (folder / "19.toml").write_text("[scene]\nworlds = 3\n")

    begin = time.process_time()

    assert pippin.load("0.toml").scene.worlds == 3
    assert time.process_time() - begin < 1.0  # 2^19 reads take minutes


def test_a_long_chain_is_refused(folder):
    for number in range(1500):
        (folder / f"{number}.toml").write_text(f'extends = ["{number + 1}.toml"]\n')

    (fault,), _ = refused()

    assert "more than 100 files extend each other in a chain" in fault


@pytest.mark.first_cases(4)
@pytest.mark.parametrize("depth", [70, 3000])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("0.toml", lambda depth: f"x = {'[' * depth}{']' * depth}"),
        ("0.toml", lambda depth: f"{'.'.join('a' * depth)} = 1"),
        ("0.toml", lambda depth: f"[{'.'.join('a' * depth)}]"),
        ("0.json", lambda depth: '{"x": ' + "[" * depth + "]" * depth + "}"),
        ("0.yaml", lambda depth: f"x: {'[' * depth}{']' * depth}"),
    ],
)
def test_deep_nesting_is_refused(folder, name, text, depth):
    (folder / name).write_text(text(depth))

    (fault,), _ = refused(name)

    assert fault.startswith(name)
    assert "nested" in fault


def test_nested_data_from_python_are_refused():
    data = value = {}
    for _ in range(3000):
        value["x"] = value = {}

    with pytest.raises(pippin.ConfigError, match="x: nested deeper than 64 levels; flatten it"):
        pippin.structure(data)


def test_aliases_of_aliases_are_refused(folder):
    lines = ["a0: &a0 [1, 1]", *(f"a{each + 1}: &a{each + 1} [*a{each}, *a{each}]" for each in range(40))]
    (folder / "0.yaml").write_text("\n".join(lines))

    (fault,), seconds = refused("0.yaml")

    assert "its aliases stand for more than 1000000 values" in fault
    assert seconds < 1.0


def test_many_unknown_keys_are_refused_soon(folder):
    (folder / "0.toml").write_text("[simulation]\n" + "".join(f"zz{each} = 1\n" for each in range(20_000)))

    faults, seconds = refused()

    assert len(faults) == 101
    assert faults[0].startswith("0.toml:1: simulation: 19900 more unknown keys")
    assert seconds < 3.0  # linear: 200 000 keys took 50 s


@pytest.mark.parametrize("first", [2**31 - 1, 2**31, 10**12])
def test_a_world_whose_number_needs_more_than_32_bits_is_refused(first):
    with pytest.raises(pippin.ConfigError, match=r"scene\.first_world: must leave the last world below 2\*\*31"):
        pippin.structure({"scene": {"first_world": first, "worlds": 2}})
