"""Boots the machine with devices that are switch ports."""

from __future__ import annotations

import json
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
from fabriclab.engine.virtual import Machine, run_machine

HERE = Path(__file__).parent
HEADERS = HERE.parents[1] / "images/machine/kernel/switch"
PORT_MTU = 1500
Process = tuple[str, Sequence[str]]
"""A node, and what it runs."""


def build_port_tool(directory: Path) -> Path:
    tool = directory / "port-tool"
    flags = ["-std=gnu11", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-static", f"-I{HEADERS}"]
    subprocess.run(["cc", *flags, "-o", str(tool), str(HERE / "port_tool.c")], check=True)
    return tool


@dataclass
class Star:
    """Hosts h1, h2... around a switch s1: host n has 10.n.0.2 and its port at the switch is eth<n>."""

    hosts: int
    switch_port: Mapping[int, Port]
    host_port: Port
    host_sysctls: Mapping[str, str] = field(default_factory=dict)
    host_tc: Sequence[str] = ()
    switch_tc: Sequence[str] = ()

    def nodes(self, run: Path) -> list[dict[str, str]]:
        numbers = range(1, self.hosts + 1)
        tc = [line.replace("DEV", f"eth{number}") for number in numbers for line in self.switch_tc]
        neighbours = [f"neigh add 10.{n}.0.2 lladdr 02:fa:00:00:{n:02x}:01 dev eth{n}" for n in numbers]
        addresses = [f"addr add 10.{n}.0.1/24 dev eth{n}" for n in numbers]
        nodes = [_write_node(run, "s1", {"net.ipv4.ip_forward": "1"}, addresses + neighbours, tc)]
        for n in numbers:
            gateway = [f"neigh add 10.{n}.0.1 lladdr 02:fa:00:00:{n:02x}:02 dev eth1", f"route add default via 10.{n}.0.1"]
            tc = [line.replace("DEV", "eth1") for line in self.host_tc]
            nodes.append(_write_node(run, f"h{n}", self.host_sysctls, [f"addr add 10.{n}.0.2/24 dev eth1", *gateway], tc))
        return nodes

    def links(self) -> list[dict[str, Any]]:
        return [
            {
                "a": {"node": f"h{n}", "interface": "eth1", "mac": f"02:fa:00:00:{n:02x}:01"},
                "b": {"node": "s1", "interface": f"eth{n}", "mac": f"02:fa:00:00:{n:02x}:02"},
                "mtu": PORT_MTU,
            }
            for n in range(1, self.hosts + 1)
        ]

    def set_up(self, run: Path, node: str) -> list[str]:
        """Commands that make a node's devices switch ports."""
        ports = self.switch_port if node == "s1" else ({} if self.host_tc else {1: self.host_port})
        commands = []
        for number, port in ports.items():
            (run / f"{node}-eth{number}").write_bytes(port.pack())
            commands.append(f"/job/port-tool add eth{number} /job/{node}-eth{number} || exit 1")
        return commands


def _write_node(run: Path, name: str, sysctls: Mapping[str, str], ip: Sequence[str], tc: Sequence[str]) -> dict[str, str]:
    directory = run / "nodes" / name
    directory.mkdir(parents=True)
    (directory / "sysctl.conf").write_text("".join(f"{key} = {value}\n" for key, value in sysctls.items()))
    (directory / "ip.batch").write_text("\n".join(ip) + "\n")
    (directory / "tc.batch").write_text("".join(f"{line}\n" for line in tc))
    return {"name": name, "files": f"nodes/{name}"}


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
        probes: Sequence[Process] = (),
        collect: Sequence[Process] = (),
        files: Mapping[str, str] | None = None,
        sysctl: str = "",
    ) -> Path:
        """Run processes, shell commands, in nodes until all have ended; returns the run directory."""
        run = (self.directory / name).resolve()
        (run / "machine").mkdir(parents=True)
        (run / "traffic").mkdir()
        shutil.copy(self.tool, run / "port-tool")
        for path, text in (files or {}).items():
            (run / path).write_text(text)
        (run / "machine/sysctl.conf").write_text(sysctl)
        (run / "machine/job.json").write_text(json.dumps(self.job(star, run, processes, probes, collect)))
        with claim_cpu() as cpu:
            machine = Machine(self.artefacts, run, 1, 2**30, cpu, 300)
            outcome = run_machine(machine, self.messages.append, Interrupt())
        assert outcome.status == "complete", self.explain(run, outcome)
        return run

    def job(
        self, star: Star, run: Path, processes: Sequence[Process], probes: Sequence[Process], collect: Sequence[Process]
    ) -> dict[str, Any]:
        commands: dict[str, list[list[str]]] = {node["name"]: [] for node in star.nodes(run)}
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
            for number in (star.switch_port if node == "s1" else [1])
        ]
        return {
            "format": "fabriclab-job-1",
            "limit_ns": 300_000_000_000,
            "sysctl": "machine/sysctl.conf",
            "nodes": [{"name": node, "files": f"nodes/{node}"} for node in commands],
            "links": star.links(),
            "daemons": [],
            "probes": [{"name": f"probe-{number}", "node": node or None, "argv": list(argv)} for number, (node, argv) in enumerate(probes)],
            "traffic": traffic,
            "collect": [*shown, *({"name": argv[0], "node": node, "argv": list(argv[1:])} for node, argv in collect)],
        }

    def explain(self, run: Path, outcome: object) -> str:
        logs = "".join(f"== {log.name}\n{log.read_text()[-2000:]}" for log in sorted((run / "logs").glob("*")))
        return f"{outcome}\n{self.messages[-5:]}\n{logs}"


def _shell(name: str, node: str, lines: Sequence[str]) -> dict[str, Any]:
    return {"name": name, "node": node, "argv": ["/bin/sh", "-c", "\n".join([*lines, "wait"])]}


def shown(run: Path, node: str, interface: str) -> Shown:
    """What a port's statistics were at the end."""
    return read_shown((run / "collect" / f"{node}-{interface}").read_text())
