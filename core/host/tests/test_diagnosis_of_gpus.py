"""`pippin plugins --doctor` about GPUs, from facts of machines that are not here, and of this one."""

import attrs
import pytest
import warp as wp
from click.testing import CliRunner
from pippin import diagnosis
from pippin.cli import main
from pippin.diagnosis import Diagnosis, GpuFacts, diagnose_gpus, told

H100 = "cuda:0: NVIDIA H100, sm_90"

GOOD = GpuFacts(
    toolkit=(13, 4),
    driver=(13, 4),
    has_library=True,
    architectures=(75, 90),
    gpus=((H100, True),),
    has_conditional_graphs=True,
    visible=None,
)


def test_a_good_machine_is_told_in_four_lines():
    assert list(told(GOOD)) == [
        "compiler: CUDA 13.4, for sm_75, sm_90",
        "driver: for CUDA 13.4; Warp compiles PTX",
        "cuda:0: NVIDIA H100, sm_90; memory pool on",
        "conditional graphs: yes, so a captured solver stops when it has converged",
    ]


@pytest.mark.parametrize(
    ("changes", "told_so"),
    [
        ({"toolkit": None}, "GPU: this build of Warp has no CUDA"),
        ({"architectures": ()}, "lacks NVRTC; reinstall warp-lang"),
        (
            {"driver": None, "has_library": False, "gpus": ()},
            "none, so all runs on the CPU; for a GPU, install",
        ),
        ({"driver": None, "gpus": ()}, "does not answer; run `nvidia-smi`"),
        ({"driver": (12, 8), "gpus": ()}, "too old for Warp; install one for CUDA 13.0 or later"),
        ({"gpus": ()}, "finds no GPU; run `nvidia-smi`"),
        ({"gpus": (), "visible": ""}, "finds no GPU; CUDA_VISIBLE_DEVICES is '', unset it"),
        ({"driver": (13, 0)}, "Warp compiles code of the GPU, no PTX"),
        ({"gpus": ((H100, False),)}, "unset WARP_ENABLE_MEMPOOLS_AT_INIT"),
        ({"has_conditional_graphs": False}, "conditional graphs: no"),
    ],
)
def test_what_is_missing_is_told_with_a_cure(changes, told_so):
    assert told_so in "\n".join(told(attrs.evolve(GOOD, **changes)))
    assert told_so not in "\n".join(told(GOOD))


def test_this_machine_is_told():
    lines = diagnose_gpus(timeout=60.0)

    assert lines[0].startswith("compiler: CUDA ")
    assert any(line.startswith("cuda:0: ") for line in lines) == wp.is_cuda_available()
    assert ("none, so all runs on the CPU" in lines[1]) == (wp.get_cuda_driver_version() is None)


def test_the_doctor_tells_about_gpus_below_the_table(monkeypatch):
    monkeypatch.setattr(diagnosis, "diagnose", lambda entry, _: Diagnosis(entry=entry))  # about a hundred imports

    every, named = (CliRunner().invoke(main, ["plugins", *names, "--doctor"]) for names in ([], ["pd"]))

    assert every.exit_code == named.exit_code == 0
    assert "\ncompiler: CUDA " in every.stdout
    assert "compiler" not in named.stdout
