"""Films on the page of a run."""

import base64

from pippin.runs.report import film
from pippin.runs.report.film import films


def test_a_small_film_is_part_of_the_page(tmp_path):
    (tmp_path / "run.mp4").write_bytes(b"film")
    (tmp_path / "run.gif").write_bytes(b"pictures")
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "notes.txt").write_bytes(b"text")

    gif, mp4 = films(tmp_path)

    assert f'<img src="data:image/gif;base64,{base64.b64encode(b"pictures").decode()}"' in gif
    assert f'<video src="data:video/mp4;base64,{base64.b64encode(b"film").decode()}" controls' in mp4


def test_a_large_film_stays_beside_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(film, "_EMBEDDED_MAX", 3)
    (tmp_path / "a run #1.mp4").write_bytes(b"film")

    (found,) = films(tmp_path)

    assert 'src="a%20run%20%231.mp4"' in found


def test_a_folder_that_is_not_there_has_no_film(tmp_path):
    assert list(films(tmp_path / "none")) == []
