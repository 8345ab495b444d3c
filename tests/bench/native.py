"""What a packet costs at a port in the machine, beside what it costs Linux itself: prints figures, judges nothing.

    sudo python3 tests/bench/native.py [--repeat N] [--seconds S]

One TCP flow (CUBIC) goes from host to host through three routers. In the machine the ports are those of a lab: 1 Gbps,
5 us, 64 KB. Beside it the same chain is made of network namespaces and veth on this host's own kernel, with neither
rates nor delays, so that it has less to do; the flow is as fast as the host. Frames have 1500 bytes and are not merged
in either, and all of it is on one core. Each figure is CPU time of the whole host over packets that ports sent,
acknowledgements among them: others' work counts, so the host must be idle. The order is native, machine, native, and so
on; the least is printed. A host that is itself virtual pays much for each interrupt and wake-up: there the native
figure says more of the hypervisor than of Linux (6.4 us on one such host, two thirds of it where interrupts are enabled
again; the machine's was 0.74).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from fabriclab.engine.artefacts import find_artefacts
from fabriclab.runs import RunContext

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parent))
from fabric import run as run_lab

CHAIN = ("h1", "r1", "r2", "r3", "h2")
VIRTUAL_S = (1, 6)
"""How long the flow sends in two runs, of which the difference counts: both also start a machine."""
TOPOLOGY = """\
name: chain
topology:
  nodes:
    h1: {kind: linux, labels: {fabriclab.role: host}}
    r1: {kind: linux, labels: {fabriclab.role: switch}}
    r2: {kind: linux, labels: {fabriclab.role: switch}}
    r3: {kind: linux, labels: {fabriclab.role: switch}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
  links:
    - {endpoints: ['h1:eth1', 'r1:eth1'], vars: {rate: 1 Gbps, delay: 5 us}}
    - {endpoints: ['r1:eth2', 'r2:eth1'], vars: {rate: 1 Gbps, delay: 5 us}}
    - {endpoints: ['r2:eth2', 'r3:eth1'], vars: {rate: 1 Gbps, delay: 5 us}}
    - {endpoints: ['r3:eth2', 'h2:eth1'], vars: {rate: 1 Gbps, delay: 5 us}}
"""
EXPERIMENT = """\
title: A chain
switches: {default: {buffer: 64 KB}}
traffic: {one: {kind: long, senders: [h1], receiver: h2, stop: STOP s}}
probes: {interfaces: {interval: 1 s}}
"""
RECEIVE = "import socket; c = socket.create_server(('', 5001)).accept()[0]\nwhile c.recv(1 << 20): pass"
ON_ONE_CORE = ("taskset", "--cpu-list", "0")
"""As in the machine: two cores that wake each other cost a host that is itself virtual several times as much."""
SEND = """import socket, sys, time
s = socket.create_connection(("{address}", 5001))
until, data = time.monotonic() + {seconds}, bytes(1 << 16)
while time.monotonic() < until: s.sendall(data)
"""


def busy_s() -> float:
    """Return the CPU time that this host has spent on anything, since it started."""
    user, nice, system, _idle, _wait, irq, softirq, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


@contextmanager
def chain() -> Iterator[dict[str, str]]:
    """Make the chain of namespaces; yields their names, by node."""
    spaces = {node: f"fabriclab-bench-{os.getpid()}-{node}" for node in CHAIN}
    try:
        for space in spaces.values():
            call("ip", "netns", "add", space)
        for number, (left, right) in enumerate(pairwise(CHAIN), start=1):
            ends = (spaces[left], f"right{number}"), (spaces[right], f"left{number}")
            call("ip", "link", "add", ends[0][1], "netns", ends[0][0], "type", "veth", "peer", "name", ends[1][1],
                 "netns", ends[1][0])  # fmt: skip
            for host, (space, port) in enumerate(ends, start=1):
                call("ip", "-n", space, "address", "add", f"10.0.{number}.{host}/24", "dev", port)
                call("ip", "-n", space, "link", "set", port, "mtu", "1500", "gso_max_segs", "1", "up")
        for index, node in enumerate(CHAIN):
            call(*inside(spaces[node]), "sysctl", "-qw", "net.ipv4.ip_forward=1")
            for number in range(1, len(CHAIN)):
                towards = index + 1 if number > index + 1 else index
                if number not in (index, index + 1):
                    via = f"10.0.{towards}.{2 if number > index + 1 else 1}"
                    call("ip", "-n", spaces[node], "route", "add", f"10.0.{number}.0/24", "via", via)
        yield spaces
    finally:
        for space in spaces.values():
            subprocess.run(["ip", "netns", "delete", space], check=False, capture_output=True)


def inside(space: str) -> tuple[str, ...]:
    return "ip", "netns", "exec", space


def call(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def native_us(seconds: float) -> float:
    """Return what a packet costs at a port of this host's own kernel, in microseconds."""
    with chain() as spaces:
        receiver = subprocess.Popen([*ON_ONE_CORE, *inside(spaces["h2"]), sys.executable, "-c", RECEIVE])
        time.sleep(0.5)
        before = busy_s(), sent(spaces)
        text = SEND.format(address=f"10.0.{len(CHAIN) - 1}.2", seconds=seconds)
        call(*ON_ONE_CORE, *inside(spaces["h1"]), sys.executable, "-c", text)
        receiver.wait()
        after = busy_s(), sent(spaces)
    return 1e6 * (after[0] - before[0]) / (after[1] - before[1])


def sent(spaces: dict[str, str]) -> int:
    """Return how many packets all ports of the chain have sent."""
    files = "for port in left right; do cat /sys/class/net/$port*/statistics/tx_packets 2>&-; done; true"
    counts = (call(*inside(space), "sh", "-c", files) for space in spaces.values())
    return sum(int(word) for text in counts for word in text.split())


def machine_us() -> float:
    """Return what a packet costs at a port in the machine, in microseconds."""
    short, long = (machine_cost(seconds) for seconds in VIRTUAL_S)
    return 1e6 * (long[0] - short[0]) / (long[1] - short[1])


def machine_cost(seconds: int) -> tuple[float, int]:
    """Return the CPU time of a run, and how many packets its ports have sent."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "topology.clab.yml").write_text(TOPOLOGY)
        (directory / "experiment.yml").write_text(EXPERIMENT.replace("STOP", str(seconds)))
        before = busy_s()
        cost = run_lab(directory, RunContext(directory, find_artefacts(), ("bench",), lambda _: None), "static")
        return busy_s() - before, cost.packets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long the native flow sends")
    chosen = parser.parse_args()
    if os.geteuid():
        print("network namespaces of this host's own need root: sudo python3 tests/bench/native.py")
        return
    ways: dict[str, Callable[[], float]] = {
        "native": lambda: native_us(chosen.seconds),
        "machine": machine_us,
    }
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(chosen.repeat):
        for name, cost in ways.items():
            costs[name].append(cost())
            print(f"{name}: {costs[name][-1]:.2f} us a packet at a port", flush=True)
    least = {name: min(found) for name, found in costs.items()}
    print(f"least: machine {least['machine']:.2f}, native {least['native']:.2f}: "
          f"{least['machine'] / least['native']:.2f} times")  # fmt: skip


if __name__ == "__main__":
    main()
