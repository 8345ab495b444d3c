"""Stand-ins for Debian's ifupdown, which the virtual machine lacks: scripts that bring up what a node's own
`/etc/network/interfaces` says, where the node's commands start networking.

Source: interfaces(5), and ifupdown's `inet.defn` and `inet6.defn` (methods loopback, static and manual on Linux).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fabriclab.formats.plan.setup import NodeFile, SetupCommand

INTERFACES = "/etc/network/interfaces"
IFUP, NETWORKING = "/usr/sbin/ifup", "/etc/init.d/networking"
SERVICES = ("/usr/bin/systemctl", "/usr/sbin/service")
_DOES = r"(?:start|stop|restart|force-reload)"
STARTS = re.compile(
    rf"(?:/etc/init\.d/|\bservice )networking {_DOES}\b|\bsystemctl {_DOES} networking(?:\.service)?\b"
    r"|(?<![\w.-])if(?:up|down) (?:-a|--all|[\w.-]+)"
)
"""What starts or stops networking, in a command or a script."""
_AUTO = ("auto", "allow-auto", "allow-hotplug")
_STANZAS = ("iface", "mapping", "source", "source-directory", "rename", *_AUTO)
_FAMILIES, _METHODS = ("inet", "inet6"), ("loopback", "static", "manual")
_WORDS_OF_IFACE = 4
_BEFORE, _AFTER = ("pre-up",), ("up", "post-up")
_READ = ("address", "netmask", "gateway", "metric", "mtu", "hwaddress", *_BEFORE, *_AFTER)
_SET_NOTHING = (
    *("broadcast", "network", "scope", "dns-nameservers", "dns-nameserver", "dns-search", "dns-domain"),
    *("down", "pre-down", "post-down", "accept_ra", "autoconf", "privext", "dad-attempts"),
)
"""Options that set nothing in a lab as an interface comes up."""
_HEAD = """#!/bin/sh
# In place of ifupdown's, made of the interfaces file that it names where a command fails.
source={source}; wanted=" $* "; failed=0
is_wanted() { case "$wanted" in *" -a "* | *" --all "*) [ "$2" = auto ] ;; *" $1 "*) ;; *) false ;; esac; }
at() { line=$1; shift; "$@" || { echo "$source:$line: \\`$*\\` failed" >&2; failed=1; }; }
"""
_NETWORKING = f"""#!/bin/sh
case "$1" in stop) ;; *) exec {IFUP} -a ;; esac
"""
_SERVICE = f"""#!/bin/sh
case " $* " in
*" stop networking"* | *" networking stop "*) ;;
*" networking "* | *" networking.service "*) exec {IFUP} -a ;;
*) echo "${{0##*/}}: the virtual machine has no services: $*" >&2; exit 1 ;;
esac
"""


class _Option(NamedTuple):
    line: int
    name: str
    value: str


@dataclass
class _Interface:
    line: int
    name: str
    is_ipv6: bool
    method: str
    options: list[_Option] = field(default_factory=list)

    def value(self, name: str) -> str | None:
        return next((option.value for option in self.options if option.name == name), None)

    def each(self, names: Sequence[str]) -> Iterator[_Option]:
        return (option for option in self.options if option.name in names)


def ifupdown(
    node: str, commands: Sequence[SetupCommand], files: Sequence[NodeFile]
) -> tuple[list[NodeFile], list[str]]:
    """Return the stand-ins that a node needs, and a sentence on each part of its `/etc/network/interfaces` that does
    not act; none of either where it has no such file, or starts no networking."""
    file = next((file for file in files if file.path == INTERFACES and file.text), None)
    texts = [*(" ".join(command.argv) for command in commands), *(file.text for file in files)]
    if file is None or not any(map(STARTS.search, texts)):
        return [], []
    where = file.source or INTERFACES
    automatic, interfaces, notes = _parsed(file.text)
    head = _HEAD.replace("{source}", shlex.quote(where), 1)
    ifup = head + "".join(_part(one, one.name in automatic) for one in interfaces)
    made = {IFUP: f"{ifup}exit $failed\n", NETWORKING: _NETWORKING, **dict.fromkeys(SERVICES, _SERVICE)}
    there = {file.path for file in files}
    scripts = [NodeFile(path=path, text=text, executable=True) for path, text in made.items() if path not in there]
    return scripts, [f"{node}: {where}:{line}: {what}" for line, what in notes]


def without_networking(argv: Sequence[str]) -> list[str]:
    """Return a command, or a script as its only word, without what the stand-ins do in it."""
    return [] if len(argv) > 1 and STARTS.fullmatch(" ".join(argv)) else [STARTS.sub(":", word) for word in argv]


def _parsed(text: str) -> tuple[set[str], list[_Interface], list[tuple[int, str]]]:
    """Return the names of interfaces that come up by themselves, all interfaces, and what does not act, by line."""
    automatic: set[str] = set()
    found: list[_Interface] = []
    notes: list[tuple[int, str]] = []
    is_read = False
    for number, (key, *words) in _statements(text):
        if key in _AUTO:
            automatic.update(words)
        if key in _STANZAS:
            is_read = key == "iface" and len(words) + 1 == _WORDS_OF_IFACE and _is_known(*words[1:])
            if is_read:
                found.append(_Interface(number, words[0], words[1] == "inet6", words[2]))
            elif key not in _AUTO:
                notes.append((number, f"`{' '.join([key, *words])}` does not act here"))
        elif is_read and key in _READ:
            found[-1].options.append(_Option(number, key, " ".join(words)))
        elif is_read and key not in _SET_NOTHING:
            notes.append((number, f"the option {key} does not act here"))
    return automatic, found, notes


def _is_known(family: str, method: str) -> bool:
    return family in _FAMILIES and method in _METHODS


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each line that is no comment, with its number; a backslash joins lines."""
    held, begun = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        begun, held = (begun if held else number), held + line.strip()
        if held.endswith("\\"):
            held = held[:-1] + " "
            continue
        words, held = held.split(), ""
        if words and not words[0].startswith("#"):
            yield begun, words


def _part(interface: _Interface, is_automatic: bool) -> str:
    """Return the part of the script that brings up an interface."""
    head = f"if is_wanted {shlex.quote(interface.name)} {'auto' if is_automatic else 'by-name'}; then\n"
    return head + "".join(f"at {line} {shlex.join(argv)}\n" for line, argv in _commands(interface)) + "fi\n"


def _commands(interface: _Interface) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the commands that bring an interface up, in ifupdown's order, each with the line that says it."""
    for option in interface.each(_BEFORE):
        yield option.line, ("sh", "-c", option.value)
    ip, name = ("ip", "-6") if interface.is_ipv6 else ("ip",), interface.name
    netmask = interface.value("netmask")
    for option in interface.each(("address",)) if interface.method == "static" else ():
        length = "" if netmask is None or "/" in option.value else f"/{netmask}"
        yield option.line, (*ip, "address", "replace", f"{option.value}{length}", "dev", name)
    mtu, mac = interface.value("mtu"), interface.value("hwaddress")
    settings = [*([] if mtu is None else ["mtu", mtu]), *([] if mac is None else ["address", mac.split()[-1]])]
    yield interface.line, ("ip", "link", "set", "dev", name, *settings, "up")
    metric = interface.value("metric")
    for option in interface.each(("gateway",)) if interface.method == "static" else ():
        last = () if metric is None else ("metric", metric)
        yield option.line, (*ip, "route", "replace", "default", "via", option.value, "dev", name, "onlink", *last)
    for option in interface.each(_AFTER):
        yield option.line, ("sh", "-c", option.value)
