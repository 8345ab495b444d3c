"""Reading what a node's own files do in it: the keys of Containerlab's nodes that act, as one record."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.document import MappingValue, ScalarValue
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written, as_text
from fabriclab.lab.setup.absent import absent, spinning
from fabriclab.lab.setup.addressing import sets_addresses
from fabriclab.lab.setup.binds import Bind, bound_files, environment_of_files, is_of_lab, read_binds, refuse_nested
from fabriclab.lab.setup.commands import Stage, read_exec, read_health, read_main, read_stages
from fabriclab.lab.setup.frr import DIRECTORY, INTEGRATED_FILE, frr_daemons, is_frr_image, of_older_routers
from fabriclab.lab.setup.frr_versions import choose_frr
from fabriclab.lab.setup.ifupdown import ifupdown
from fabriclab.lab.setup.kernel_lacks import lacking
from fabriclab.lab.setup.netlab import netlab_steps

KEYS = (
    *("exec", "binds", "env", "env-files", "entrypoint", "cmd"),
    *("network-mode", "stages", "healthcheck", "sysctls", "startup-config"),
)
"""Keys of a node that act in the virtual machine as in containers."""
_OWN_SWITCH = "fabriclab/switch"
_VARIABLE = re.compile(r"[^=\0]+")


@dataclass(frozen=True)
class WrittenSetup:
    """What a node's own files do, and what is to be checked against the other nodes."""

    setup: Setup
    waits: tuple[Written[str], ...] = ()
    """Nodes that it waits for."""
    wants_health: frozenset[str] = frozenset()
    unapplied_binds: tuple[str, ...] = ()
    """Paths in the node of binds that name files of the host."""
    notes: tuple[str, ...] = ()
    frr: str | None = None
    """The version of FRR that was built and that it runs; None: the virtual machine's."""

    @property
    def configures_network(self) -> bool:
        """Whether addresses or routes are the node's own matter."""
        return bool(self.setup.daemons) or self.setup.is_bridge or sets_addresses(self.setup)


def read_setup(
    node: Section, layers: Sequence[Section], directory: Path, *, is_bridge: bool, inherits_frr: bool = True
) -> WrittenSetup | None:
    """Return what a node's own files do in it; None where there is nothing of it. What is wrong is recorded.

    `layers`: the node and what it inherits from, the nearest first. `inherits_frr`: binds of FRR's files start it in
    the node, also those that it inherits.
    """
    reader = _SetupReader(node, layers, directory)
    written = reader.read(is_bridge=is_bridge, inherits_frr=inherits_frr)
    return written if written != WrittenSetup(Setup()) else None


class _SetupReader:
    """Reads one node's setup: its files are collected in the order in which they come to be, and so are notes."""

    def __init__(self, node: Section, layers: Sequence[Section], directory: Path) -> None:
        self._node, self._layers, self._directory = node, list(layers), directory
        self._problems, self._name = node.problems, node.key.rpartition(".")[2]
        self._image = _nearest_text(layers, "image")
        self._files: list[NodeFile] = []
        self._notes: list[str] = []

    def read(self, *, is_bridge: bool, inherits_frr: bool) -> WrittenSetup:
        """Return the setup; it may be empty."""
        layers, problems = self._layers, self._problems
        binds = read_binds(layers, problems)
        runs_frr = self._bind(binds, inherits_frr=inherits_frr)
        stage = read_stages(layers, problems)
        commands = self._commands(stage)
        environment = {**dict(environment_of_files(layers, self._directory, problems)), **_merged(layers, "env")}
        setup = Setup(
            files=tuple(self._files),
            environment=environment,
            sysctls=_merged(layers, "sysctls"),
            daemons=frr_daemons(self._files) if runs_frr else (),
            main=read_main(layers, problems),
            commands=commands,
            health=read_health(layers, problems),
            is_bridge=is_bridge,
        )
        frr = choose_frr(self._name, self._image, setup)
        notes = (*self._notes, *self._unconfigured(setup), *lacking(self._name, setup), *absent(self._name, setup))
        outside = tuple(bind.target for bind in binds if not is_of_lab(bind))
        return WrittenSetup(setup, stage.waits, stage.wants_health, outside, (*notes, *frr.notes), frr.version)

    def _bind(self, binds: Sequence[Bind], *, inherits_frr: bool) -> bool:
        """Collect the files that are bound; return whether the node runs FRR."""
        problems, own = self._problems, f"{self._node.key}."
        by_bind = [(bind, bound_files(bind, self._directory, problems)) for bind in binds if is_of_lab(bind)]
        refuse_nested(by_bind, problems)
        self._files = [*{file.path: file for _, found in by_bind for file in found}.values()]
        older = of_older_routers(self._files)
        self._files += older
        starting = [found for bind, found in by_bind if inherits_frr or bind.written.key.startswith(own)]
        is_bound = any(file.path.startswith(f"{DIRECTORY}/") for found in starting for file in found)
        if not (older or is_bound or (is_frr_image(self._image) and _OWN_SWITCH not in self._image)):
            return False
        startup = _startup_config(self._layers, self._directory, problems)
        if startup is not None and all(file.path != INTEGRATED_FILE for file in self._files):
            self._files.append(replace(startup, bound=False))
            what = f"startup-config is FRR's {INTEGRATED_FILE} here; Containerlab has none of this kind"
            self._notes.append(f"{self._name}: {what}")
        return True

    def _commands(self, stage: Stage) -> tuple[SetupCommand, ...]:
        """Return the commands, after collecting the files that netlab and ifupdown need for them."""
        name = self._name
        scripts, netlab = netlab_steps(name, self._directory, self._node.place, self._problems)
        bound, run = {file.path for file in self._files}, {script.path for script in scripts}
        self._files = [replace(file, executable=True) if file.path in run else file for file in self._files]
        self._files += [script for script in scripts if script.path not in bound]
        self._notes += [f"{where} is run on Containerlab's host, not here" for where in stage.host_side]
        commands = _numbered((*stage.before, *read_exec(self._layers, self._problems), *stage.after, *netlab))
        stand_ins, unset = ifupdown(name, commands, self._files)
        self._files += stand_ins
        missing = {command.name: spinning(command, self._files) for command in commands}
        endless = [
            f"{name}: {command.key}: the virtual machine has no {missing[command.name]}, without which the loop would "
            "never wait; it is left out"
            for command in commands
            if missing[command.name] is not None
        ]
        self._notes += [*unset, *endless]
        return tuple(command for command in commands if missing[command.name] is None)

    def _unconfigured(self, setup: Setup) -> Iterator[str]:
        if setup.daemons and not any(file.path.startswith(f"{DIRECTORY}/") for file in setup.files):
            yield (
                f"{self._name}: nothing is bound below {DIRECTORY}, so FRR has no configuration here; what image "
                f"{self._image} brings is not in the virtual machine"
            )


def _numbered(commands: Sequence[SetupCommand]) -> tuple[SetupCommand, ...]:
    """Return commands with names of their own: those of several layers' stages may share one."""
    seen: dict[str, int] = {}
    named = []
    for command in commands:
        count = seen[command.name] = seen.get(command.name, 0) + 1
        named.append(command if count == 1 else replace(command, name=f"{command.name}-{count}"))
    return tuple(named)


def _nearest_text(layers: Sequence[Section], key: str) -> str:
    for layer in layers:
        value = layer.get(key)
        if isinstance(value, ScalarValue) and not value.is_null:
            return value.text
    return ""


def _startup_config(layers: Sequence[Section], directory: Path, problems: Problems) -> NodeFile | None:
    for layer in layers:
        value = layer.get("startup-config")
        if isinstance(value, ScalarValue) and not value.is_null:
            if "\n" in value.text:
                return NodeFile(path=INTEGRATED_FILE, text=value.text)
            one = MappingValue({"binds": replace(value, text=f"{value.text}:{INTEGRATED_FILE}")}, {}, value.place)
            (bind,) = read_binds([Section(one, layer.path("startup-config"), problems, None)], problems)
            return next(iter(bound_files(bind, directory, problems)), None)
    return None


def _merged(layers: Sequence[Section], key: str) -> dict[str, str]:
    """Return a mapping of texts that layers share, the nearest one's value of a name holds."""
    found: dict[str, str] = {}
    for layer in reversed(layers):
        section = layer.section(key, None)
        for name in section.names() if section is not None else ():
            value = None if section is None else section.get(name)
            if section is None or value is None:
                continue
            if _VARIABLE.fullmatch(name) is None:
                section.complain(name, f"{shown(name)} cannot be a name; it has no '='")
            elif isinstance(value, ScalarValue):
                found[name] = value.text
            else:
                as_text(value, section.path(name), layer.problems, "a text")
    return found


def settle_order(
    written: Mapping[str, WrittenSetup], names: Sequence[str], apart: Collection[str], problems: Problems
) -> dict[str, Setup]:
    """Return each node's setup with whom it waits for and its place among all; what nodes are not there to be waited
    for, or wait for each other, is recorded. Nobody waits for a node of `apart`, which is left out."""
    settled: dict[str, Setup] = {}
    for name in names:
        own = written.get(name, WrittenSetup(Setup()))
        after = tuple(wait.value for wait in own.waits)
        for wait in own.waits:
            if wait.value not in (*names, *apart):
                wait.complain(problems, f"{shown(wait.value)} is not a node; {did_you_mean(wait.value, names)}")
            elif (
                wait.value not in apart
                and wait.value in own.wants_health
                and (wait.value not in written or written[wait.value].setup.health is None)
            ):
                wait.complain(problems, f"{wait.value} has no healthcheck, and would be waited for without end")
        settled[name] = replace(own.setup, after=tuple(one for one in after if one in names))
    order = _order(settled, written, problems)
    return {name: replace(setup, order=order.index(name)) for name, setup in settled.items() if name in written}


def _order(setups: Mapping[str, Setup], written: Mapping[str, WrittenSetup], problems: Problems) -> list[str]:
    """Return the nodes so that each follows whom it waits for, else as in the file."""
    order: list[str] = []
    left = list(setups)
    while left:
        free = next((name for name in left if all(one in order for one in setups[name].after)), None)
        if free is None:
            wait = written[left[0]].waits[0]
            wait.complain(problems, f"{', '.join(left)} wait for each other; one of them must not wait")
            return [*order, *left]
        order.append(free)
        left.remove(free)
    return order
