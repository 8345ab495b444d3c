"""What a node's own files do in it, for the job: files, daemons, and the steps that follow in their order.

Source of the order: Containerlab starts all containers, makes their links, and then runs what `exec` says of each, in
the order of the file unless stages make nodes wait; `netlab initial` comes after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.formats.job import Program, SetupStep, Still
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.setup import NodeFile, Setup
from fabriclab.formats.run_directory import HOSTS_FILE
from fabriclab.lab.setup.absent import is_there
from fabriclab.lab.setup.frr import FRR_DIRECTORIES, INTEGRATED_FILE, frr_boot, starts_frr
from fabriclab.resolve.interfaces import families_of, interfaces

LOOK_INTERVAL_NS = 100_000_000
"""How often routes are looked at, virtual time: the resolution of what is measured."""
_BRIDGE = "br0"
_BY_SHELL = ("/bin/sh", "-c", 'exec "$0" "$@"')


def compile_own_network(node: Node) -> str:
    """Return the `ip.batch` of a node whose addresses and routes are its own matter: what links themselves say, and
    the ports of a bridge."""
    every = [interface for family in families_of(node) for interface in interfaces(node, family)]
    lines = [f"address replace {interface.address} dev {interface.name}" for interface in every]
    if node.setup is not None and node.setup.is_bridge:
        lines.append(f"link add name {_BRIDGE} type bridge stp_state 0 mcast_snooping 0")
        lines += [f"link set dev {port.interface} master {_BRIDGE}" for port in node.ports]
        lines.append(f"link set dev {_BRIDGE} up")
    return "".join(line + "\n" for line in lines)


def compile_dummies(node: Node) -> str:
    """Return the lines for `ip -batch` that make a node's dummy devices; in containers Containerlab makes them."""
    lines = []
    for dummy in node.dummies:
        mac = "" if dummy.mac is None else f" address {dummy.mac}"
        lines.append(f"link add name {dummy.interface}{mac} mtu {dummy.mtu} type dummy")
        lines.append(f"link set dev {dummy.interface} up")
        addresses = (dummy.address, None if dummy.ipv6 is None else f"{dummy.ipv6} nodad")
        for address in (one for one in addresses if one is not None):
            words, _, flag = address.partition(" ")
            lines.append(f"address add {words} dev {dummy.interface}{flag and f' {flag}'}")
    return "".join(line + "\n" for line in lines)


def own_files(node: Node, *, stock: bool) -> tuple[NodeFile, ...]:
    """Return a node's own files; `stock`: in containers, those that Containerlab does not bind."""
    files = () if node.setup is None else node.setup.files
    return tuple(file for file in files if not (stock and file.bound))


def compile_setup(plan: Plan, *, stock: bool) -> list[SetupStep]:
    """Return the job's `setup`; `stock`: in containers, where Containerlab does its own part."""
    every = list(_in_order(plan))
    netlab = [step for node, setup in every for step in _commands(node, setup, "netlab")]
    if stock:
        copied = [(node, setup) for node, setup in every if any(_is_copied_configuration(one) for one in setup.files)]
        return [*(step for node, setup in copied for step in _boot(node, setup)), *netlab]
    first = [one for one in every if not one[1].after]
    steps = [step for part in (_prepare, _daemons, _start) for node, setup in first for step in part(node, setup)]
    awaited = {name for _, setup in every for name in setup.after}
    for node, setup in every:
        if setup.after:
            steps += [step for part in (_prepare, _daemons, _start) for step in part(node, setup)]
        steps += _commands(node, setup, "containerlab")
        if node.name in awaited:
            steps += _health(node, setup)
    return [*steps, *netlab]


def compile_still(plan: Plan, hosts: Sequence[str]) -> Still | None:
    """Return the job's `still`: what is waited for, and which addresses are wanted then: those of `hosts` must be."""
    if plan.configured is None:
        return None
    return {
        "still_ns": plan.configured.still_ns,
        "interval_ns": LOOK_INTERVAL_NS,
        "limit_ns": plan.configured.limit_ns,
        "addresses": {
            "file": HOSTS_FILE,
            "nodes": list(hosts),
            "others": [node.name for node in plan.nodes if node.name not in hosts],
        },
    }


def _in_order(plan: Plan) -> Iterator[tuple[Node, Setup]]:
    found = [(node, node.setup) for node in plan.nodes if node.setup is not None]
    return iter(sorted(found, key=lambda one: one[1].order))


def _prepare(node: Node, setup: Setup) -> Iterator[SetupStep]:
    """Yield what makes FRR's directories its own, as its image has them."""
    if setup.daemons:
        yield SetupStep(kind="command", program=_program("frr-directories", node, FRR_DIRECTORIES))


def _daemons(node: Node, setup: Setup) -> Iterator[SetupStep]:
    for daemon in setup.daemons:
        yield SetupStep(kind="daemon", program=_program(daemon.name, node, daemon.argv), again=True)


def _is_copied_configuration(file: NodeFile) -> bool:
    return file.path == INTEGRATED_FILE and not file.bound


def _boot(node: Node, setup: Setup) -> Iterator[SetupStep]:
    boot = frr_boot(setup.daemons, setup.files) if setup.daemons else ()
    if boot:
        yield SetupStep(kind="command", program=_program("vtysh", node, boot), again=True)


def _start(node: Node, setup: Setup) -> Iterator[SetupStep]:
    yield from _boot(node, setup)
    if setup.main:
        yield SetupStep(kind="main", program=_program("main", node, _startable(setup, setup.main)), again=True)


def _commands(node: Node, setup: Setup, by: str) -> list[SetupStep]:
    # FRR runs already where its daemons are ours to start: a second start would have a watchdog beside them.
    runs = bool(setup.daemons)
    commands = [command for command in setup.commands if command.by == by and not (runs and starts_frr(command.argv))]
    programs = [_program(one.name, node, _startable(setup, one.argv)) for one in commands]
    return [SetupStep(kind="command", program=program) for program in programs]


def _startable(setup: Setup, argv: Sequence[str]) -> Sequence[str]:
    """Return a command that can be started whether or not the machine has its program: a shell tells that it has not,
    where a command that cannot be started would end the run. In containers it is the image that has it."""
    return argv if is_there(argv[0], setup.files) else (*_BY_SHELL, *argv)


def _health(node: Node, setup: Setup) -> Iterator[SetupStep]:
    health = setup.health
    if health is None:
        return
    if health.start_ns:
        sleep = ("sleep", str(health.start_ns // 10**9))
        yield SetupStep(kind="command", program=_program("health-start", node, sleep))
    yield SetupStep(
        kind="health",
        program=_program("health", node, health.argv),
        interval_ns=health.interval_ns,
        limit_ns=health.limit_ns,
        tries=health.tries,
    )


def _program(name: str, node: Node, argv: Sequence[str]) -> Program:
    return {"name": f"{name}@{node.name}", "node": node.name, "argv": list(argv)}
