"""A SLURM cluster of two nodes, both of which are this machine: a real controller, two real daemons, one partition."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# seconds until both nodes take jobs, and until a chain of small jobs has ended
START_SECONDS, MOST_SECONDS = 120, 1500

CONF = """\
ClusterName=evenhand
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
KillWait=2
MinJobAge=600
MaxArraySize=4
SlurmctldPort={ctld}
SlurmctldPidFile={folder}/ctld.pid
SlurmctldLogFile={folder}/ctld.log
StateSaveLocation={folder}/state
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/spool-%n
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=2 RealMemory=8000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def ask(*command: str) -> str:
    done = _asked(*command)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def _asked(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """The cluster; SLURM's programs of this process and its children talk to it.

    Args:
        folder: for its files; sockets lie there, so its path must be short.
    """
    with socket.socket() as a, socket.socket() as b, socket.socket() as c:
        for each in (a, b, c):
            each.bind(("127.0.0.1", 0))
        ctld, n1, n2 = (each.getsockname()[1] for each in (a, b, c))
    (folder / "state").mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(host=socket.gethostname(), folder=folder, ctld=ctld, n1=n1, n2=n2))
    before = os.environ.get("SLURM_CONF")
    os.environ["SLURM_CONF"] = str(conf)
    daemons = []
    try:
        for command in (
            ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}",
             f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"],
            ["slurmctld", "-D"], ["slurmd", "-D", "-N", "n1"], ["slurmd", "-D", "-N", "n2"],
        ):  # fmt: skip
            with (folder / f"{command[0]}-{len(daemons)}.out").open("wb") as out:
                daemons.append(subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL))
            time.sleep(0.5)
        deadline = time.monotonic() + START_SECONDS
        while _asked("sinfo", "--noheader", "--states=idle", "--format=%D").stdout.strip() != "2":
            assert time.monotonic() < deadline, [path.read_text()[-2000:] for path in folder.glob("*.log")]
            time.sleep(0.2)
        yield
    finally:
        _asked("scancel", "--user=root")
        time.sleep(0.5)
        for each in reversed(daemons):
            each.send_signal(signal.SIGTERM)
        for each in daemons:
            try:
                each.wait(timeout=20)
            except subprocess.TimeoutExpired:
                each.kill()
        if before is None:
            os.environ.pop("SLURM_CONF")
        else:
            os.environ["SLURM_CONF"] = before


def states(ids: list[str]) -> dict[str, str]:
    """Job, or task of an array -> its state."""
    found = {}
    for line in ask("scontrol", "--oneliner", "show", "jobs").splitlines():
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if words.get("ArrayJobId", words.get("JobId")) in ids:
            found[words["JobId"]] = words["JobState"]
    return found


def wait_for(ids: list[str]) -> dict[str, str]:
    """The states of jobs that have ended."""
    deadline = time.monotonic() + MOST_SECONDS
    while open_ := {job: state for job, state in states(ids).items() if state in {"PENDING", "RUNNING", "COMPLETING"}}:
        assert time.monotonic() < deadline, open_
        time.sleep(0.5)
    return states(ids)
