"""The process that alone imports Ray: what it says if it cannot."""

import pytest
from pippin.errors import PluginError
from pippin.sweeps.executors import make_executor


def test_a_library_that_cannot_be_imported_is_named_with_its_extra(tmp_path, monkeypatch):
    (tmp_path / "ray.py").write_text("raise ImportError('no ray here')")
    monkeypatch.syspath_prepend(tmp_path)
    executor = make_executor("ray")

    with pytest.raises(PluginError, match=r"'ray' cannot be imported \(no ray here\); .*pippin\[ray\]"):
        _ = executor.slots
    executor.close()
