"""Claims about the gallery of matter: each file is on the page with its film, and something moves in it."""

import re
from pathlib import Path

import numpy as np
import pippin
import pytest
from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"
FILES = sorted((DOCS / "examples" / "matter").glob("*.toml"))
FILMS = DOCS / "images" / "matter"
PAGE = (DOCS / "reference" / "gallery-of-matter.md").read_text(encoding="utf-8")


def test_every_film_has_a_row_with_its_file_and_every_file_is_linked():
    rows = re.findall(r"\(\.\./images/matter/(\w+)\.webp\).*?\(\.\./examples/matter/(\w+)\.toml\)", PAGE)

    assert all(film == file for film, file in rows)
    assert sorted(film for film, _ in rows) == sorted(path.stem for path in FILMS.iterdir())
    assert all(f"(../examples/matter/{path.name})" in PAGE for path in FILES)
    assert len(rows) == 10


def test_the_films_are_small_and_move():
    for path in sorted(FILMS.iterdir()):
        with Image.open(path) as film:
            assert film.n_frames >= 25, path.name
            frames = []
            for index in (0, film.n_frames // 2):
                film.seek(index)
                frames.append(np.asarray(film.convert("RGB")).astype(int))
        assert (np.abs(frames[1] - frames[0]).max(axis=2) > 40).mean() > 0.005, path.name
    assert sum(path.stat().st_size for path in FILMS.iterdir()) < 3e6


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_the_matter_of_a_file_moves(file):
    with pippin.Simulation.from_file(file, {"simulation.device": "cpu"}) as simulation:
        simulation.step(12)
        simulation.raise_errors()
        for name in ("particle", "body"):
            if getattr(simulation.model, f"{name}_count"):
                now, start = (getattr(each, f"{name}_q").numpy() for each in (simulation.state, simulation.model))
                assert np.abs(now - start).max() > 1e-3, name
