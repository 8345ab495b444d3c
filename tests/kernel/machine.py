"""Boots the machine with devices that are switch ports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from switch_port import Port, Shown, read_shown

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.cpu import claim_cpu
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.shared_memory import Shared
from fabriclab.engine.virtual import Machine, Wired, run_machine
from fabriclab.formats.run_directory import INPUTS, OUTPUT

HERE = Path(__file__).parent
HEADERS = HERE.parents[1] / "images/machine/kernel/tree/net/sched/switch_port"
PORT_MTU = 1500
REALTIME_START_NS = 1_700_000_000
"""What the machine's CLOCK_REALTIME is ahead of its CLOCK_MONOTONIC."""

START_NS = 10_200_000
"""When senders start, since the epoch: the ports are configured by then; between two ticks,
which would wake sleepers early."""

BEGIN_NS = 2_000_000_000
"""Since the machine's start: when cables begin to carry."""

SETTLE_S = 0.3
"""How long a run takes at least: all queues have drained by then."""

FULL_PAYLOAD, FULL_FRAME, FULL_WIRE = 1472, 1514, 1538
"""The largest datagram's payload, frame, and bytes on the wire."""

COMPLAINT = re.compile(
    r"WARNING|BUG|KASAN|UBSAN|kmemleak: [1-9]|possible (recursive|circular|irq|deadlock)|inconsistent lock|Call Trace"
)
"""What the kernel's log says when something is wrong."""

QUIET = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
"""Nothing on the links but what a test sends."""

Process = tuple[str, Sequence[str]]
"""A node, and what it runs."""


def build_port_tool(directory: Path) -> Path:
    tool = directory / "port-tool"
    flags = ["-std=gnu11", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-static", f"-I{HEADERS}"]
    subprocess.run(["cc", *flags, "-o", str(tool), *map(str, sorted(HERE.glob("port_*.c")))], check=True)
    return tool


Device = Port | Sequence[str]
"""What a device is made: a switch port, or lines for `tc -batch`, DEV for its name."""


@dataclass
class Star:
    """Hosts h1, h2... around a switch s1: host n has 10.n.0.2 and its port at the switch is eth<n>."""

    host_devices: Sequence[Device]
    switch_devices: Sequence[Device]
    host_sysctls: Mapping[str, str] = field(default_factory=dict)
    cable_ns: int | None = None
    """Links are cables with this delay. None: veth, and the ports have the delay."""

    def devices(self, node: str) -> dict[int, Device]:
        """A node's devices by the number in their names."""
        if node == "s1":
            return dict(enumerate(self.switch_devices, start=1))
        return {1: self.host_devices[int(node.removeprefix("h")) - 1]}

    def write_nodes(self, run: Path) -> list[str]:
        """Write the files of all nodes, return their names."""
        numbers = range(1, len(self.host_devices) + 1)
        neighbours = [f"neigh add 10.{n}.0.2 lladdr 02:fa:00:00:{n:02x}:01 dev eth{n}" for n in numbers]
        self._write_node(
            run,
            "s1",
            {**QUIET, "net.ipv4.ip_forward": "1"},
            [f"addr add 10.{n}.0.1/24 dev eth{n}" for n in numbers] + neighbours,
        )
        for n in numbers:
            gateway = [
                f"neigh add 10.{n}.0.1 lladdr 02:fa:00:00:{n:02x}:02 dev eth1",
                f"route add default via 10.{n}.0.1",
            ]
            self._write_node(
                run, f"h{n}", {**QUIET, **self.host_sysctls}, [f"addr add 10.{n}.0.2/24 dev eth1", *gateway]
            )
        return ["s1", *(f"h{n}" for n in numbers)]

    def _write_node(self, run: Path, name: str, sysctls: Mapping[str, str], ip: Sequence[str]) -> None:
        tc = [
            line.replace("DEV", f"eth{number}")
            for number, device in self.devices(name).items()
            if not isinstance(device, Port)
            for line in device
        ]
        directory = run / "nodes" / name
        directory.mkdir(parents=True)
        for file, lines in (
            ("sysctl.conf", [f"{key} = {value}" for key, value in sysctls.items()]),
            ("ip.batch", ip),
            ("tc.batch", tc),
        ):
            (directory / file).write_text("".join(f"{line}\n" for line in lines))

    def links(self) -> list[dict[str, Any]]:
        return [
            {
                "a": {"node": f"h{n}", "interface": "eth1", "mac": f"02:fa:00:00:{n:02x}:01"},
                "b": {"node": "s1", "interface": f"eth{n}", "mac": f"02:fa:00:00:{n:02x}:02"},
                "mtu": PORT_MTU,
            }
            for n in range(1, len(self.host_devices) + 1)
        ]

    def wired(self) -> dict[str, Any]:
        """A job's links, if they are cables."""
        return {
            "begin_ns": BEGIN_NS,
            "ends": [
                {**link[end], "mtu": PORT_MTU, "number": 2 * number + place}
                | {"delay_ns": self.cable_ns, "delay_in_ns": self.cable_ns}
                for number, link in enumerate(self.links())
                for place, end in enumerate("ab")
            ],
        }

    def set_up(self, run: Path, node: str) -> list[str]:
        """Return the commands that make a node's devices switch ports."""
        commands = []
        for number, device in self.devices(node).items():
            if isinstance(device, Port):
                (run / f"{node}-eth{number}").write_bytes(device.pack())
                commands.append(f"/job/port-tool add eth{number} /job/{node}-eth{number} || exit 1")
        return commands

    def switch_ports(self, node: str) -> list[int]:
        return [number for number, device in self.devices(node).items() if isinstance(device, Port)]


@dataclass
class Boot:
    """The machine's artefacts, the tool, and a place for runs."""

    artefacts: Artefacts
    tool: Path
    directory: Path
    messages: list[Event] = field(default_factory=list)

    def run(
        self,
        star: Star,
        processes: Sequence[Process],
        *,
        name: str = "run",
        seed: int = 1,
        probes: Sequence[Process] = (),
        collect: Sequence[Process] = (),
        files: Mapping[str, str | bytes] | None = None,
        sysctl: str = "",
    ) -> Path:
        """Run processes, shell commands, in nodes until all have ended; returns the run directory."""
        run = (self.directory / name).resolve()
        (run / "machine").mkdir(parents=True)
        (run / "traffic").mkdir()
        (run / "collect").mkdir()
        shutil.copy(self.tool, run / "port-tool")
        for path, text in (files or {}).items():
            (run / path).write_bytes(text.encode() if isinstance(text, str) else text)
        (run / "machine/sysctl.conf").write_text(sysctl)
        (run / "machine/job.json").write_text(json.dumps(self.job(star, run, processes, probes, collect)))
        with claim_cpu() as cpu:
            # Beside a run's own directories: what the tests bring along.
            brought = [path.name for path in run.iterdir() if path.name not in INPUTS]
            wired = Wired(0, Shared(1, BEGIN_NS)) if star.cable_ns is not None else None
            machine = Machine(self.artefacts, run, seed, 2**30, cpu, 300, adds_to=brought, wired=wired)
            outcome = run_machine(machine, self.messages.append, Interrupt())
        for written in (run / OUTPUT).iterdir() if (run / OUTPUT).is_dir() else ():
            written.replace(run / written.name)
        assert outcome.status == "complete", self.explain(run, outcome)
        assert not COMPLAINT.search((run / "logs/kernel.log").read_text()), self.explain(run, outcome)
        return run

    def job(
        self, star: Star, run: Path, processes: Sequence[Process], probes: Sequence[Process], collect: Sequence[Process]
    ) -> dict[str, Any]:
        cables = star.cable_ns
        commands: dict[str, list[list[str]]] = {node: [] for node in star.write_nodes(run)}
        commands["s1"].append([f"sleep {SETTLE_S}"])
        for node, arguments in processes:
            commands[node].append(list(arguments))
        traffic = [
            _shell(f"{node}-{number}", node, [*(star.set_up(run, node) if number == 0 else []), *lines])
            for node, scripts in commands.items()
            for number, lines in enumerate(scripts or [[]])
        ]
        shown = [
            {"name": f"{node}-eth{number}", "node": node, "argv": ["/job/port-tool", "show", f"eth{number}"]}
            for node in commands
            for number in star.switch_ports(node)
        ]
        return {
            "format": "fabriclab-job-1",
            "limit_ns": 300_000_000_000,
            "sysctl": "machine/sysctl.conf",
            "nodes": [
                {"name": node, "files": f"nodes/{node}"} | ({} if cables is None else {"stream": number})
                for number, node in enumerate(commands, start=1)
            ],
            "links": star.links() if cables is None else [],
            **({} if cables is None else {"wires": star.wired()}),
            "daemons": [],
            "probes": [
                {"name": f"probe-{number}", "node": node or None, "argv": list(argv)}
                for number, (node, argv) in enumerate(probes)
            ],
            "traffic": traffic,
            "collect": [*shown, *({"name": argv[0], "node": node, "argv": list(argv[1:])} for node, argv in collect)],
        }

    def explain(self, run: Path, outcome: object) -> str:
        logs = "".join(f"== {log.name}\n{log.read_text()[-2000:]}" for log in sorted((run / "logs").glob("*")))
        return f"{outcome}\n{self.messages[-5:]}\n{logs}"


def _shell(name: str, node: str, lines: Sequence[str]) -> dict[str, Any]:
    return {"name": name, "node": node, "argv": ["/bin/sh", "-c", "\n".join([*lines, "wait"])]}


@dataclass(frozen=True)
class Datagram:
    """One that arrived: ns since the epoch, payload, ECN bits, number."""

    time_ns: int
    size: int
    ecn: int
    number: int


def send(
    address: str,
    *,
    count: int,
    port: int = 7000,
    tc: int = 0,
    size: int = FULL_PAYLOAD,
    interval_ns: int = 0,
    start_ns: int = START_NS,
) -> str:
    """Return the command that sends datagrams of a traffic class (DSCP tc x 8); without an interval all at once."""
    return f"/job/port-tool send {address} {port} {8 * tc} {size} {count} {interval_ns} {start_ns} &"


def receive(duration_ns: int, port: int = 7000) -> str:
    return f"/job/port-tool receive {port} {duration_ns} &"


def show_at(interface: str, when_ns: int, name: str) -> str:
    """Return the command that writes a port's statistics at a time since the epoch to the run directory."""
    return f"/job/port-tool show {interface} {when_ns} > /job/{name} &"


def datagrams(boot: Boot, run: Path, log: str) -> list[Datagram]:
    """What a receiver logged."""
    epoch = next(message.t_ns for message in boot.messages if message.name == "epoch")
    rows = [tuple(map(int, line.split())) for line in (run / "logs" / f"{log}.log").read_text().splitlines()]
    return [Datagram(time - REALTIME_START_NS - epoch, size, ecn, number) for time, size, ecn, number in rows]


def shown(run: Path, node: str, interface: str) -> Shown:
    """What a port's statistics were at the end."""
    return read_shown((run / "collect" / f"{node}-{interface}").read_text())
