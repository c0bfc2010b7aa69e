"""Videos on the page of a run."""

import base64

from pippin.report import whole_page
from pippin.report.whole_page import videos


def test_a_small_video_is_part_of_the_page(tmp_path):
    (tmp_path / "run.mp4").write_bytes(b"video")
    (tmp_path / "run.gif").write_bytes(b"pictures")
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "notes.txt").write_bytes(b"text")

    gif, mp4 = videos(tmp_path)

    assert f'<img src="data:image/gif;base64,{base64.b64encode(b"pictures").decode()}"' in gif
    assert f'<video src="data:video/mp4;base64,{base64.b64encode(b"video").decode()}" controls' in mp4


def test_a_large_video_stays_beside_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_page, "_EMBEDDED_MAX", 3)
    (tmp_path / "a run #1.mp4").write_bytes(b"video")

    (found,) = videos(tmp_path)

    assert 'src="a%20run%20%231.mp4"' in found


def test_a_folder_that_is_not_there_has_no_video(tmp_path):
    assert list(videos(tmp_path / "none")) == []
