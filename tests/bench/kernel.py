"""How fast the machine's kernel is: prints figures beside what they are meant to be, judges nothing.

    python3 tests/bench/kernel.py [--kernel FILE] [--cpu N] [--repeat N]

boot        from start to power-off of a machine without nodes, in seconds
exec        one fork, exec and exit of `ip link`, in milliseconds
flow        wall seconds a virtual second of one DCTCP flow at 1 Gbps: host, switch, host; every port tbf, netem 25 us,
red or bfifo port        the same with switch_port everywhere, and its CPU time as a ratio of that of `flow` 48 ports
wall seconds a virtual second and a flow of 24 such flows through one switch of 48 ports, each a switch_port; the ratio
to
            the same with the stock qdiscs

Each figure is the least of the repetitions, in wall time and in CPU time (which a busy host changes less). All but
`boot` are slopes between two lengths, so that they are free of the boot. What is compared is measured in turn. What
they are meant to be is in CPU time, on a host that has nothing else to do.
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
RATE, RATE_BPS = "1gbit", 1_000_000_000
DELAY_NS = 25_000
BUFFER, THRESHOLD = 400_000, 30_000
FLOW_SECONDS = (2, 12)
MANY_PORTS, MANY_SECONDS = 48, (1, 2)
EXEC_COUNTS = (10, 210)
TARGET_FLOW_S, TARGET_RATIO = 0.18, 1.2
HOST_SYSCTLS = {
    "net.ipv4.tcp_congestion_control": "dctcp",
    "net.ipv4.tcp_ecn": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
}
Job = dict[str, object]
JobMaker = Callable[[Path, int], Job]
Qdiscs = Callable[..., list[str]]
"""The lines of tc.batch that make an interface a port: (interface, marks=)."""


class Cost(NamedTuple):
    """Seconds of wall time and of CPU time."""

    wall: float
    cpu: float


def artefacts() -> dict[str, Path]:
    """Where kernel, rootfs and tools lie; builds what is missing."""
    command = [str(REPOSITORY / "images/machine/build")]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: Path(path) for name, _, path in (line.partition("=") for line in output.splitlines())}


def stock_qdiscs(interface: str, *, marks: bool) -> list[str]:
    red = (
        f"red limit {BUFFER} min {THRESHOLD} max {THRESHOLD + 1} avpkt 1500 burst 20 ecn bandwidth {RATE} probability 1"
    )
    queue = red if marks else f"bfifo limit {10 * BUFFER}"
    return [
        f"qdisc add dev {interface} root handle 1: tbf rate {RATE} burst 3028 limit 10000000",
        f"qdisc add dev {interface} parent 1:1 handle 2: netem delay {DELAY_NS}ns limit 10000",
        f"qdisc add dev {interface} parent 2:1 handle 3: {queue}",
    ]


def switch_port(interface: str, *, marks: bool) -> list[str]:
    """Return the words of one port for PID 1. A port that marks is a switch's: its queue shares the packet memory."""
    port = f"qdisc add dev {interface} root handle 1: switch_port rate {RATE_BPS}bit delay {DELAY_NS}ns"
    if not marks:
        return [f"{port} queue 0 limit {10 * BUFFER}"]
    memory = f" cell 208 memory 0 {32 * BUFFER}" if interface == "eth1" else ""
    return [f"{port}{memory} queue 0 pool 0 alpha 0 wred {THRESHOLD} {THRESHOLD + 1} 100% weight 1 ecn"]


def write_node(
    run: Path, name: str, sysctls: Mapping[str, str], ip: Sequence[str], tc: Sequence[str]
) -> dict[str, str]:
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


def star_job(qdiscs: Qdiscs, hosts: int) -> JobMaker:
    """Return the maker of jobs in which the first half of so many hosts at one switch sends to the other
    half, one DCTCP flow each."""
    return lambda run, seconds: write_star(run, seconds, qdiscs, hosts)


def write_star(run: Path, seconds: int, qdiscs: Qdiscs, hosts: int) -> Job:
    numbers = range(1, hosts + 1)
    nodes = []
    for n in numbers:
        addressing = [f"addr add 10.{n}.0.2/24 dev eth1", f"route add default via 10.{n}.0.1"]
        nodes.append(write_node(run, f"h{n}", HOST_SYSCTLS, addressing, qdiscs("eth1", marks=False)))
    addresses = [f"addr add 10.{n}.0.1/24 dev eth{n}" for n in numbers]
    ports = [line for n in numbers for line in qdiscs(f"eth{n}", marks=True)]
    nodes.append(write_node(run, "s1", {"net.ipv4.ip_forward": "1"}, addresses, ports))
    write_traffic(run, seconds, hosts)
    return empty_job() | {
        "sysctl": "machine/sysctl.conf",
        "nodes": nodes,
        "links": [link(f"h{n}", "eth1", "s1", f"eth{n}", n) for n in numbers],
        "traffic": [replay(f"h{n}") for n in numbers],
    }


def write_traffic(run: Path, seconds: int, hosts: int) -> None:
    pairs = hosts // 2
    stop = seconds * 1_000_000_000
    flows = [f"{n - 1},0,h{n},h{n + pairs},,{stop},push,,,,long" for n in range(1, pairs + 1)]
    header = "flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class"
    addresses = [f"h{n},10.{n}.0.2" for n in range(1, hosts + 1)]
    (run / "traffic").mkdir()
    (run / "traffic/trace.csv").write_text("\n".join(["# fabriclab-trace-1", header, *flows]) + "\n")
    (run / "traffic/hosts.csv").write_text("\n".join(["# fabriclab-hosts-1", "host,address", *addresses]) + "\n")
    (run / "machine").mkdir(exist_ok=True)
    (run / "machine/sysctl.conf").write_text("net.ipv4.tcp_allowed_congestion_control = reno cubic dctcp\n")


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
            "taskset",
            "-c",
            str(cpu),
            str(paths["kernel"]),
            "mem=1G",
            "root=/dev/root",
            "rootfstype=hostfs",
            f"rootflags={tools}",
            "ro",
            "init=/init",
            "time-travel=inf-cpu",
            "time-travel-start=1700000000",
            "fabriclab.seed=1",
            f"hostfs.allow=ro:{tools},ro:{rootfs},rw:{run}",
            f"fabriclab_rootfs={rootfs}",
            f"fabriclab_job={run}",
            "con=null",
            "con0=null,fd:1",
            f"uml_dir={scratch}/",
            "quiet",
        ]
        environment = os.environ | ({"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {})
        start, start_cpu = time.monotonic(), children_cpu()
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
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
    return least(costs)


def least(costs: Sequence[Cost]) -> Cost:
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs))


def slope(paths: Mapping[str, Path], make_job: JobMaker, sizes: tuple[int, int], cpu: int, repeat: int) -> Cost:
    return slopes(paths, [make_job], sizes, cpu, repeat)[0]


def slopes(
    paths: Mapping[str, Path], makers: Sequence[JobMaker], sizes: tuple[int, int], cpu: int, repeat: int
) -> list[Cost]:
    """What a unit of size costs with each maker; they take turns, so that a host that slows down slows all of them."""
    rounds = [[[least_cost(paths, maker, size, cpu, 1) for size in sizes] for maker in makers] for _ in range(repeat)]
    costs = []
    for number in range(len(makers)):
        short, long = (least([turn[number][end] for turn in rounds]) for end in (0, 1))
        steps = sizes[1] - sizes[0]
        costs.append(Cost((long.wall - short.wall) / steps, (long.cpu - short.cpu) / steps))
    return costs


def show(name: str, cost: Cost, unit: str, factor: float = 1) -> None:
    print(f"{name:9}{cost.wall * factor:8.3f} wall {cost.cpu * factor:8.3f} cpu   {unit}", flush=True)


def show_ratio(name: str, cost: Cost, stock: Cost, factor: float = 1) -> None:
    show(
        name,
        cost,
        f"s a virtual second; cpu x {cost.cpu / stock.cpu:.2f} of the stock qdiscs' (target: at most {TARGET_RATIO})",
        factor,
    )


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
    stock, ours = slopes(paths, [star_job(stock_qdiscs, 2), star_job(switch_port, 2)], FLOW_SECONDS, cpu, repeat)
    show("flow", stock, f"s a virtual second (target: at most {TARGET_FLOW_S})")
    show_ratio("port", ours, stock)
    stock, ours = slopes(
        paths, [star_job(stock_qdiscs, MANY_PORTS), star_job(switch_port, MANY_PORTS)], MANY_SECONDS, cpu, repeat
    )
    show_ratio(f"{MANY_PORTS} ports", ours, stock, 2 / MANY_PORTS)


if __name__ == "__main__":
    main()
