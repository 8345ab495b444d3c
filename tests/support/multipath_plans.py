"""Plans of fabrics with several paths."""

from __future__ import annotations

from small_fabrics import link as gigabit_link
from typer.testing import CliRunner
from vm import Vm

from fabriclab.cli.app import app
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

EXPERIMENT = """
title: MPTCP
switches: {default: {buffer: 256 KB}}
hosts: {default: {rto_min: 10 ms, queue: 256 KB, mptcp: {subflows: 8}}}
traffic:
  long: {kind: long, senders: [h1], receiver: h2, stop: 500 ms, transport: mptcp}
probes: {tcp: {interval: 1 ms}, interfaces: {interval: 10 ms}}
"""


def written_plan(vm: Vm, topology: str, experiment: str = EXPERIMENT, seed: int = 1, /, **settings: str) -> Plan:
    (vm.directory / "topology.clab.yml").write_text(topology, encoding="utf-8")
    (vm.directory / "experiment.yml").write_text(experiment, encoding="utf-8")
    return resolve_plan(parse_lab(vm.directory), settings, seed)


def generated_plan(vm: Vm, arguments: str, experiment: str = EXPERIMENT, seed: int = 1, /, **settings: str) -> Plan:
    written = ["generate", *arguments.split(), "--out", str(vm.directory), "--force"]
    assert CliRunner().invoke(app, written).exit_code == 0
    return written_plan(
        vm, (vm.directory / "topology.clab.yml").read_text(encoding="utf-8"), experiment, seed, **settings
    )


def network(switches: tuple[str, ...], *links: tuple[str, str, str]) -> str:
    """Return a topology of h1, h2, h3 and switches; links are (end, end, rate)."""
    roles = {
        **dict.fromkeys(switches, "switch"),
        **dict.fromkeys(sorted({end[:2] for each in links for end in each[:2]} - set(switches)), "host"),
    }
    nodes = "".join(
        f"    {name}: {{kind: linux, labels: {{fabriclab.role: {role}}}}}\n" for name, role in roles.items()
    )
    lines = "".join(f"    - {gigabit_link(a, b).replace('1 Gbps', f'{rate}, delay: 25 us')}\n" for a, b, rate in links)
    return f"name: net\ntopology:\n  nodes:\n{nodes}  links:\n{lines}"


BOTH_DUAL_HOMED = network(
    ("s1", "s2"),
    ("h1:eth1", "s1:eth1", "100 Mbps"),
    ("h1:eth2", "s2:eth1", "100 Mbps"),
    ("h2:eth1", "s1:eth2", "100 Mbps"),
    ("h2:eth2", "s2:eth2", "100 Mbps"),
    ("s1:eth3", "s2:eth3", "1 Gbps"),
)
