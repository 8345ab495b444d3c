"""How fast the machine's kernel is: prints figures, judges nothing.

    python3 tests/bench/kernel.py [--kernel FILE] [--cpu N] [--repeat N]

boot        from start to power-off of a machine without nodes, in seconds
exec        one fork, exec and exit of `ip link`, in milliseconds
flow        wall seconds a virtual second of one DCTCP flow at 1 Gbps: host, switch, host; every port tbf, netem 25 us, red or bfifo

Each figure is the least of the repetitions, in wall time and in CPU time (which a busy host changes less). `exec` and `flow` are
slopes between two lengths, so that they are free of the boot.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
RATE = "1gbit"
FLOW_SECONDS = (2, 12)
EXEC_COUNTS = (10, 210)
HOST_SYSCTLS = {
    "net.ipv4.tcp_congestion_control": "dctcp",
    "net.ipv4.tcp_ecn": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
}
Job = dict[str, object]
JobMaker = Callable[[Path, int], Job]


class Cost(NamedTuple):
    """Seconds of wall time and of CPU time."""

    wall: float
    cpu: float


def artefacts() -> dict[str, Path]:
    """Where kernel, rootfs and tools lie; builds what is missing."""
    command = [str(REPOSITORY / "images/machine/build")]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: Path(path) for name, _, path in (line.partition("=") for line in output.splitlines())}


def port_qdiscs(interface: str, queue: str) -> list[str]:
    return [
        f"qdisc add dev {interface} root handle 1: tbf rate {RATE} burst 3028 limit 10000000",
        f"qdisc add dev {interface} parent 1:1 handle 2: netem delay 25us limit 10000",
        f"qdisc add dev {interface} parent 2:1 handle 3: {queue}",
    ]


def write_node(run: Path, name: str, sysctls: Mapping[str, str], ip: Sequence[str], tc: Sequence[str]) -> dict[str, str]:
    directory = run / "nodes" / name
    directory.mkdir(parents=True)
    (directory / "sysctl.conf").write_text("".join(f"{key} = {value}\n" for key, value in sysctls.items()))
    (directory / "ip.batch").write_text("\n".join(ip) + "\n")
    (directory / "tc.batch").write_text("\n".join(tc) + "\n")
    return {"name": name, "files": f"nodes/{name}"}


def empty_job() -> Job:
    job: Job = {"format": "fabriclab-job-1", "limit_ns": 60_000_000_000}
    return job | {part: [] for part in ("nodes", "links", "daemons", "probes", "traffic", "collect")}


def boot_job(_run: Path, _size: int) -> Job:
    return empty_job()


def exec_job(run: Path, count: int) -> Job:
    job = empty_job()
    job["nodes"] = [write_node(run, "h1", {}, [], [])]
    job["collect"] = [{"name": f"{number}", "node": "h1", "argv": ["ip", "link"]} for number in range(count)]
    return job


def flow_job(run: Path, seconds: int) -> Job:
    red = f"red limit 400000 min 30000 max 30001 avpkt 1500 burst 20 ecn bandwidth {RATE} probability 1"
    fifo = "bfifo limit 4000000"
    nodes = []
    for subnet, name in ((1, "h1"), (2, "h2")):
        addressing = [f"addr add 10.{subnet}.0.2/24 dev eth1", f"route add default via 10.{subnet}.0.1"]
        nodes.append(write_node(run, name, HOST_SYSCTLS, addressing, port_qdiscs("eth1", fifo)))
    switch_addresses = ["addr add 10.1.0.1/24 dev eth1", "addr add 10.2.0.1/24 dev eth2"]
    nodes.append(write_node(run, "s1", {"net.ipv4.ip_forward": "1"}, switch_addresses, port_qdiscs("eth1", red) + port_qdiscs("eth2", red)))
    (run / "traffic").mkdir()
    (run / "traffic/trace.csv").write_text(
        "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"
        f"0,0,h1,h2,,{seconds * 1_000_000_000},push,,,,long\n"
    )
    (run / "traffic/hosts.csv").write_text("# fabriclab-hosts-1\nhost,address\nh1,10.1.0.2\nh2,10.2.0.2\n")
    (run / "machine").mkdir(exist_ok=True)
    (run / "machine/sysctl.conf").write_text("net.ipv4.tcp_allowed_congestion_control = reno cubic dctcp\n")
    return empty_job() | {
        "sysctl": "machine/sysctl.conf",
        "nodes": nodes,
        "links": [link("h1", "eth1", "s1", "eth1", 1), link("h2", "eth1", "s1", "eth2", 2)],
        "traffic": [replay("h1"), replay("h2")],
    }


def link(node_a: str, interface_a: str, node_b: str, interface_b: str, number: int) -> dict[str, object]:
    return {
        "a": {"node": node_a, "interface": interface_a, "mac": f"02:fa:00:00:{number:02x}:01"},
        "b": {"node": node_b, "interface": interface_b, "mac": f"02:fa:00:00:{number:02x}:02"},
        "mtu": 1500,
    }


def replay(host: str) -> dict[str, object]:
    files = ["--trace", "/job/traffic/trace.csv", "--hosts", "/job/traffic/hosts.csv", "--log", f"/job/{host}.csv"]
    return {"name": f"replay@{host}", "node": host, "argv": ["/tools/replay", "--host", host, *files]}


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_machine(paths: Mapping[str, Path], run: Path, job: Job, cpu: int) -> Cost:
    """What the job took. A job that fails ends the bench with the machine's own words."""
    (run / "machine").mkdir(exist_ok=True)
    (run / "machine/job.json").write_text(json.dumps(job))
    tools, rootfs = paths["tools"], paths["rootfs"]
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            "taskset", "-c", str(cpu), str(paths["kernel"]), "mem=1G", "root=/dev/root", "rootfstype=hostfs", f"rootflags={tools}", "ro",
            "init=/init", "time-travel=inf-cpu", "time-travel-start=1700000000", "fabriclab.seed=1",
            f"hostfs.allow=ro:{tools},ro:{rootfs},rw:{run}", f"fabriclab_rootfs={rootfs}", f"fabriclab_job={run}",
            "con=null", "con0=null,fd:1", f"uml_dir={scratch}/", "quiet",
        ]  # fmt: skip
        environment = os.environ | ({"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {})
        start, start_cpu = time.monotonic(), children_cpu()
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        cost = Cost(time.monotonic() - start, children_cpu() - start_cpu)
    if '"status":"complete"' not in done.stdout:
        raise SystemExit(f"the machine did not complete its job (exit {done.returncode}):\n{done.stdout[-2000:]}")
    return cost


def least_cost(paths: Mapping[str, Path], make_job: JobMaker, size: int, cpu: int, repeat: int) -> Cost:
    costs = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as name:
            run = Path(name).resolve()
            costs.append(run_machine(paths, run, make_job(run, size), cpu))
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs))


def slope(paths: Mapping[str, Path], make_job: JobMaker, sizes: tuple[int, int], cpu: int, repeat: int) -> Cost:
    short, long = (least_cost(paths, make_job, size, cpu, repeat) for size in sizes)
    steps = sizes[1] - sizes[0]
    return Cost((long.wall - short.wall) / steps, (long.cpu - short.cpu) / steps)


def show(name: str, cost: Cost, unit: str, factor: float = 1) -> None:
    print(f"{name:6}{cost.wall * factor:8.3f} wall {cost.cpu * factor:8.3f} cpu   {unit}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", type=Path, help="the kernel to measure (default: the built one)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the CPU to run on")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each run")
    arguments = parser.parse_args()
    paths = artefacts()
    if arguments.kernel:
        paths["kernel"] = arguments.kernel.resolve()
    cpu, repeat = arguments.cpu, arguments.repeat
    show("boot", least_cost(paths, boot_job, 0, cpu, repeat), "s")
    show("exec", slope(paths, exec_job, EXEC_COUNTS, cpu, repeat), "ms", 1000)
    show("flow", slope(paths, flow_job, FLOW_SECONDS, cpu, repeat), "s a virtual second")


if __name__ == "__main__":
    main()
