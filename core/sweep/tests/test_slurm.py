"""The Slurm executor on a real cluster: a controller and two nodes, all on this machine, of Debian's packages."""

import csv
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pippin_sweep import Job, executor_faults
from pippin_sweep.executor import make_executor

from tests.scene_files import ARM

pytest.importorskip("submitit")
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
if missing := [name for name in DAEMONS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]:
    pytest.skip(f"not installed: {', '.join(missing)}; apt-get install slurm-wlm munge", allow_module_level=True)

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0
KillWait=2
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port_1} CPUs=1
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port_2} CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""

SCENE = """
[simulation]
device = "cpu"

[scene]
[[scene.assets]]
path = "arm.xml"

[solver]
type = "featherstone"
"""


@pytest.fixture(scope="module")
def cluster():
    """Run a cluster in a folder of its own, with its own ports and key; return the folder."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "slurm.conf").write_text(configuration(folder))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
            patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
            daemons = list(start(folder))
            try:
                wait_for(lambda: output("sinfo", "--noheader", "--states=idle", "--format=%D").strip() == "2")
                yield folder
                wait_for(lambda: output("squeue", "--noheader") == "")  # or the last job outlives its node
            finally:
                for process in processes_of(folder):
                    os.kill(process, signal.SIGKILL)
                for daemon in daemons:
                    daemon.wait()


def processes_of(folder):
    """Return the daemons and jobs of a cluster: its folder is in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            found += [int(path.parent.name)] if os.fsencode(folder) in path.read_bytes() else []
    return found


def configuration(folder):
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        ports = []
        for each in (one, two, three):
            each.bind(("127.0.0.1", 0))
            ports.append(each.getsockname()[1])
    places = dict(zip(("port", "port_1", "port_2"), ports, strict=True))
    return CONFIGURATION.format(folder=folder, user=getpass.getuser(), host=socket.gethostname(), **places)


def start(folder):
    """Start the daemons in the foreground, each with its log."""
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    for name in ("state", "spool-node1", "spool-node2"):
        (folder / name).mkdir()
    files = [f"--{name}={folder}/{file}" for name, file in (("socket", "munge.sock"), ("key-file", "munge.key"))]
    files += [f"--{name}={folder}/munged.{name}" for name in ("pid-file", "log-file", "seed-file")]
    commands = [["munged", "--force", "--foreground", *files], ["slurmctld", "-D"]]
    for command in [*commands, *(["slurmd", "-D", "-N", node] for node in ("node1", "node2"))]:
        with (folder / f"{command[0]}-{command[-1]}.out".replace("/", "_")).open("w") as out:
            yield subprocess.Popen(command, stdout=out, stderr=out)
        if command[0] == "munged":
            wait_for((folder / "munge.sock").exists)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def wait_for(condition):
    end = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_real_cluster_keeps_the_contract(cluster, tmp_path):
    settings = [f"folder='{tmp_path}/logs'", "look_period=0.5"]

    assert executor_faults(lambda: make_executor("slurm", settings), tmp_path / "jobs") == []


def test_the_job_of_a_node_that_fails_is_lost_and_does_not_run_again(cluster, tmp_path):
    executor = make_executor("slurm", [f"folder='{tmp_path}/logs'", "look_period=0.5"])
    job = Job(
        key="hangs",
        function="pippin_sweep.executor_contract:hang",
        arguments={"folder": str(tmp_path)},
        folder=tmp_path,
    )
    executor.submit(job)
    wait_for((tmp_path / "pid").exists)
    node = output("squeue", "--noheader", "--states=running", "--format=%N").strip()

    subprocess.run(["scontrol", "update", f"nodename={node}", "state=down", "reason=test"], check=True)
    ended = executor.wait(60.0)
    executor.close()

    assert [(each.status, each.text) for each in ended] == [
        ("node-lost", "the cluster lost it, its state is NODE_FAIL")
    ]
    assert output("squeue", "--noheader") == ""


def test_a_sweep_runs_on_the_cluster(cluster, tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "arm.toml").write_text(SCENE)
    (tmp_path / "variants.csv").write_text("simulation.seed,scene.assets.0.joint_positions\n0,{}\n1,{knee = 1.0}\n")
    command = [Path(sys.executable).with_name("pippin"), "sweep", "arm.toml", "--variants", "variants.csv"]
    options = ["--executor", "slurm", "--executor-set", "processes=2", "--steps", "3", "--out", "out"]

    result = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    with (tmp_path / "out/results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    assert (result.returncode, [row["outcome"] for row in rows]) == (4, ["ok", "refused"])
    assert "knee" in rows[1]["reason"]
    assert "sacct" not in result.stderr
