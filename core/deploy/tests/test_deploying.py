"""A policy that cannot be deployed."""

import pippin
import pytest
from pippin_deploy import deploy


@pytest.mark.alone
def test_a_file_that_is_no_network_is_named_and_nothing_is_written(tmp_path):
    policy = tmp_path / "policy.onnx"
    policy.write_bytes(b"no network")

    with pytest.raises(pippin.ConfigError, match=r"policy\.onnx' is not a readable ONNX file"):
        deploy(policy=policy, out=tmp_path / "robot")
    assert not (tmp_path / "robot").exists()
