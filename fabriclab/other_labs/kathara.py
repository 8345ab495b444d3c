"""From a Kathará lab to the Containerlab file that says the same: `lab.conf`, the startup scripts and the directories
beside it.

Sources: Kathará's `parser/netkit/LabParser.py` (the lines of lab.conf), `model/Machine.py` (its options), and
kathara-lab-structure(7): `NAME.startup` runs in the device NAME after `shared.startup`, and what lies in the directory
NAME lies below `/` there. Every device forwards packets. The first interface is eth0: there is no management network.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.network.labels import ROLE_LABEL
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, UnreadableError, read_lab_file, text_of
from fabriclab.lab.reading.made_text import MadeText
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.setup.binds import MOST_FILES
from fabriclab.other_labs.startup import startup_commands

FILE_NAME = "lab.conf"
_LINE = re.compile(r"([a-z0-9_]{1,30})\[(\w+)\]\s*=\s*([\"']?)([^\"']+)\3(?:\s+#.*)?")
_DOMAIN = re.compile(r"(\w+)(?:/((?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}))?")
_METADATA = re.compile(r"LAB_[A-Z]+=")
_FORM = 'a line is such as r1[0]="A" or r1[image]="kathara/frr"'
_DEFAULT_IMAGE = "kathara/base"
_SHARED = "shared"
_AS_CONTAINERLAB = {"mem": "memory", "cpus": "cpu", "port": "ports", "bridged": "ports"}
"""Options that have no effect in the virtual machine: Containerlab's keys for them are told as such."""
_MAPPINGS = {"env": "env", "sysctl": "sysctls"}
_WITHOUT_TRAFFIC = ("shell", "num_terms", "privileged", "ulimit", "ipv6", "entrypoint", "args")
_OPTIONS = ("image", "exec", "env", "sysctl", *_AS_CONTAINERLAB, *_WITHOUT_TRAFFIC)
_PLACE = "/hostlab"
"""Where Kathará keeps a device's scripts."""

_LEFT_OUT = {
    "lab.ext": "joins collision domains with interfaces of the host; nothing here reaches the host, so it is left out",
    "lab.dep": "says which devices start first; here all start together, so it is left out",
}


@dataclass
class _Device:
    line: int
    interfaces: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    """The collision domain of each, and its MAC address; None: any."""
    lines: dict[int, int] = field(default_factory=dict)
    """In which line of lab.conf an interface stands."""
    options: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """What each option is given, with the line."""


def is_lab_conf(file: Path) -> bool:
    """Return whether a file is a Kathará lab, of which the directory is a part."""
    if file.name != FILE_NAME or not file.is_file():
        return False
    return any(_LINE.fullmatch(line.strip()) for line in _text(file, Problems()).splitlines())


def containerlab_file(file: Path) -> MadeText:
    """Return the Containerlab file of a Kathará lab, whose parts are said in lab.conf and in startup scripts.

    Raises LabError with everything that is wrong in lab.conf, and with startup scripts that can't be read.
    """
    problems = Problems()
    devices = _devices(file, _text(file, problems), problems)
    problems.raise_if_any()
    bridges, links = _links(devices)
    places = {f"topology.nodes.{name}": Place(str(file), line) for name, line in bridges.items()}
    nodes: dict[str, dict[str, Any]] = {name: {"kind": "bridge"} for name in bridges}
    for name, device in devices.items():
        said = list(_startup(file.parent, name, problems))
        nodes[name] = _node(file.parent, name, device, [command for _, command in said], problems)
        places[f"topology.nodes.{name}"] = Place(str(file), device.line)
        places |= {f"topology.nodes.{name}.exec[{number}]": place for number, (place, _) in enumerate(said)}
        places |= {f"topology.nodes.{name}.{key}": place for key, place in _options(file, name, device, len(said))}
    problems.raise_if_any()
    places |= {f"topology.links[{number}]": Place(str(file), link.line) for number, link in enumerate(links)}
    in_order = sorted(nodes, key=lambda name: (name in bridges, places[f"topology.nodes.{name}"].line or 0))
    topology = {"nodes": {name: nodes[name] for name in in_order}, "links": [link.entry for link in links]}
    return MadeText(json.dumps({"name": _name(file), "topology": topology}, indent=1) + "\n", str(file), places)


def left_out(file: Path) -> Iterator[str]:
    """Yield a sentence on each file beside a Kathará lab that does not act here."""
    for name, what in _LEFT_OUT.items():
        if file.name == FILE_NAME and file.with_name(name).is_file():
            yield f"{name} {what}"


def _text(file: Path, problems: Problems) -> str:
    """Return what a file of the lab holds; nothing, after recording why, of one that can't be read."""
    try:
        return text_of(read_lab_file(file.parent, file.name, LARGEST_YAML_BYTES))
    except UnreadableError as error:
        problems.add(Place(str(file)), "", str(error))
    except UnicodeDecodeError:
        problems.add(Place(str(file)), "", "is not UTF-8; save the file as UTF-8")
    return ""


def _name(file: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", file.resolve().parent.name).strip("-")
    return name[:63] or "kathara"


def _devices(file: Path, text: str, problems: Problems) -> dict[str, _Device]:
    devices: dict[str, _Device] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found, place = _LINE.fullmatch(line.strip()), Place(str(file), number)
        if found is None:
            if line.strip() and not line.lstrip().startswith("#") and not _METADATA.match(line):
                problems.add(
                    place, "", f'{shown(line.strip())}: a line is such as r1[0]="A" or r1[image]="kathara/frr"'
                )
            continue
        name, word, _, value = found.groups()
        if name == _SHARED:
            problems.add(place, name, "is the directory that all devices share; give the device another name")
            continue
        device = devices.setdefault(name, _Device(number))
        if word.isdigit():
            _connect(device, name, int(word), value, place, problems)
        elif word in _OPTIONS:
            device.options.setdefault(word, []).append((number, value))
        else:
            problems.add(place, f"{name}[{word}]", f"no option of Kathará's; {did_you_mean(word, _OPTIONS)}")
    if not devices:
        problems.add(Place(str(file)), "", f"names no device; {_FORM}")
    return devices


def _connect(device: _Device, name: str, number: int, value: str, place: Place, problems: Problems) -> None:
    found = _DOMAIN.fullmatch(value)
    if found is None:
        problems.add(place, f"{name}[{number}]", f"{shown(value)} is no collision domain; write letters and digits")
    elif number in device.interfaces:
        problems.add(place, f"{name}[{number}]", "stands twice; an interface is in one collision domain")
    else:
        device.interfaces[number] = (found[1], found[2])
        device.lines[number] = place.line or 0


def _startup(directory: Path, name: str, problems: Problems) -> Iterator[tuple[Place, str]]:
    """Yield the commands of a device's startup scripts, each with where it is said."""
    for script in _scripts(directory, name):
        for line, command in startup_commands(_text(directory / script, problems), f"{_PLACE}/{script}"):
            yield Place(str(directory / script), line), command


def _scripts(directory: Path, name: str) -> list[str]:
    return [script for script in (f"{_SHARED}.startup", f"{name}.startup") if (directory / script).is_file()]


def _node(directory: Path, name: str, device: _Device, commands: Sequence[str], problems: Problems) -> dict[str, Any]:
    options = {option: [value for _, value in given] for option, given in device.options.items()}
    node: dict[str, Any] = {
        "kind": "linux",
        "image": options.get("image", [_DEFAULT_IMAGE])[-1],
        "network-mode": "none",
    }
    if len(device.interfaces) > 1:
        node["labels"] = {ROLE_LABEL: "switch"}
    scripts = [f"{script}:{_PLACE}/{script}" for script in _scripts(directory, name)]
    files = list(islice(_files(directory, name), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        problems.add(Place(str(directory / name)), "", f"holds more than {MOST_FILES} files, the most of a device")
    node["binds"] = [*files, *scripts]
    node["exec"] = [*commands, *options.get("exec", ())]
    for option, key in _MAPPINGS.items():
        if option in options:
            node[key] = {name: value for name, _, value in (each.partition("=") for each in options[option])}
    for option, key in _AS_CONTAINERLAB.items():
        if option in options:
            node[key] = options[option] if key == "ports" else options[option][-1]
    return node


def _options(file: Path, name: str, device: _Device, commands: int) -> Iterator[tuple[str, Place]]:
    """Yield the keys that a device's options become (`_node`), each with its place in lab.conf; `commands`: how many
    commands of scripts come before those of `exec`."""
    for option, given in device.options.items():
        for number, (line, value) in enumerate(given):
            place = Place(str(file), line, f"{name}[{option}]")
            if option in _MAPPINGS:
                yield f"{_MAPPINGS[option]}.{value.partition('=')[0]}", place
            elif option == "exec":
                yield f"exec[{commands + number}]", place
            else:
                yield _AS_CONTAINERLAB.get(option, option), place


def _files(directory: Path, name: str) -> Iterator[str]:
    """Yield a bind for each file of a device's directory."""
    for path in sorted((directory / name).rglob("*")):
        if path.is_file() and not path.is_symlink():
            inside = path.relative_to(directory / name).as_posix()
            yield f"{name}/{inside}:/{inside}"


class _Link(NamedTuple):
    line: int
    """Of lab.conf, in which its last end stands."""
    entry: dict[str, Any]


def _links(devices: dict[str, _Device]) -> tuple[dict[str, int], list[_Link]]:
    """Return the bridges, one for each collision domain of three and more interfaces, with the lines that name them
    first, and all links."""
    domains: dict[str, list[tuple[int, dict[str, str]]]] = defaultdict(list)
    for name, device in devices.items():
        for number, (domain, mac) in sorted(device.interfaces.items()):
            end = {"node": name, "interface": f"eth{number}"} | ({} if mac is None else {"mac": mac})
            domains[domain].append((device.lines[number], end))
    bridges: dict[str, int] = {}
    links: list[_Link] = []
    for domain, said in domains.items():
        line, ends = max(line for line, _ in said), [end for _, end in said]
        if len(ends) == 1:
            links.append(_Link(line, {"type": "dummy", "endpoint": ends[0]}))
        elif len(ends) == 2 and ends[0]["node"] != ends[1]["node"]:
            links.append(_Link(line, {"type": "veth", "endpoints": ends}))
        else:
            bridge = domain if domain not in devices else f"lan_{domain}"
            bridges[bridge] = min(line for line, _ in said)
            for number, (own_line, end) in enumerate(said):
                port = {"node": bridge, "interface": f"p{number}"}
                links.append(_Link(own_line, {"type": "veth", "endpoints": [end, port]}))
    return bridges, links
