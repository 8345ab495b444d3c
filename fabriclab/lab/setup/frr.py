"""The FRR daemons that a node's own files ask for.

Source: FRR's tools/frrcommon.sh.in and tools/etc/frr/daemons: zebra, mgmtd and staticd always run, the others where the
file `daemons` says yes; each reads its own file unless there is an integrated frr.conf, which `vtysh -b` gives to all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fabriclab.formats.plan.setup import NodeFile, SetupDaemon

DIRECTORY = "/etc/frr"
DAEMONS_FILE = f"{DIRECTORY}/daemons"
INTEGRATED_FILE = f"{DIRECTORY}/frr.conf"
_BINARIES = "/usr/lib/frr"
_SOCKETS = "/run/frr"
_ALWAYS = ("mgmtd", "zebra", "staticd")
ORDER = (
    *("mgmtd", "zebra", "bgpd", "ripd", "ripngd", "ospfd", "ospf6d", "isisd", "babeld", "pimd", "pim6d", "ldpd"),
    *("nhrpd", "eigrpd", "sharpd", "pbrd", "staticd", "bfdd", "fabricd", "vrrpd", "pathd"),
)
"""In which order frrcommon.sh starts them."""
CONFIGURATION_FILES = (
    *(DAEMONS_FILE, INTEGRATED_FILE, f"{DIRECTORY}/vtysh.conf"),
    *(f"{DIRECTORY}/{name}.conf" for name in ORDER),
)
"""What FRR reads as configuration, and nobody runs."""
_SLOW = ("ospfd", "ospf6d", "isisd", "ripd", "ripngd", "fabricd", "eigrpd", "babeld")
"""Daemons that wait long before the first route: OSPF for a designated router as long as a neighbour may be silent,
40 s (RFC 2328, sections 9.4 and C.3); RIP sends every 30 s (RFC 2453, section 3.8)."""
FRR_DIRECTORIES = (
    *("/bin/sh", "-c"),
    "chown -R frr:frr /etc/frr && install -d -o frr -g frr /var/lib/frr /var/log/frr /var/tmp/frr /run/frr",
)
"""The command that gives FRR's daemons, which run as the user frr, their directories, as FRR's image has them."""
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_IMAGE = re.compile(r"frr(?:outing)?(?![a-z])", re.IGNORECASE)
_DETACHING = ("-d", "--daemon")
_NAMES = "(?:frr|quagga|zebra)"
"""Of its service: what it is a fork of, and what that is a fork of, have the same files in directories of their own."""
_OLDER = ("/etc/quagga", "/etc/zebra")
OLDER_DEFAULTS = "frr version 6.0-quagga"
"""By this line FRR takes the defaults of before its version 7.4, which are Quagga's: BGP exchanges routes with external
neighbours without a policy, and announces a network whether or not there is a route to it (bgpd/bgp_vty.c)."""
_BGP_FILE = f"{DIRECTORY}/bgpd.conf"
_START_SCRIPT = rf"(/\S+/)?(frrinit\.sh|init\.d/{_NAMES})"
_STARTS = (
    (_START_SCRIPT, "(re)?start"),
    (r"(/\S+/)?service", _NAMES, "(re)?start"),
    (r"(/\S+/)?systemctl", "(re)?start", rf"{_NAMES}(\.service)?"),
)


def is_frr_image(image: str) -> bool:
    """Return whether an image is one of FRR's."""
    return _IMAGE.search(image.rpartition("@")[0] or image) is not None


def of_older_routers(files: Sequence[NodeFile]) -> list[NodeFile]:
    """Return the files that FRR gets in the place of Quagga or GNU Zebra, whose configurations these are, with
    the defaults of those. The node keeps them where they were."""
    found = []
    for file in files:
        directory, _, name = file.path.rpartition("/")
        path = f"{DIRECTORY}/{name}"
        if directory in _OLDER and path in CONFIGURATION_FILES and all(other.path != path for other in files):
            text = f"{OLDER_DEFAULTS}\n{file.text}" if path == _BGP_FILE else file.text
            found.append(replace(file, path=path, bound=False, text=text))
    return found


def runs_slow_protocol(daemons: Iterable[SetupDaemon]) -> bool:
    """Return whether one of the daemons waits for longer than BGP does before it has routes."""
    return any(daemon.name.partition("-")[0] in _SLOW for daemon in daemons)


def frr_daemons(files: Iterable[NodeFile]) -> tuple[SetupDaemon, ...]:
    """Return the daemons of a node with these files, as its start script would start them, but in the foreground and
    with their log on standard output."""
    words = _assignments(next((file.text for file in files if file.path == DAEMONS_FILE), ""))
    profile = words.get("frr_profile")
    common = [*(["-F", profile] if profile else []), "--log", "stdout", "--log-level", "informational"]
    started = []
    for name in ORDER:
        if name not in _ALWAYS and words.get(name, "no") != "yes":
            continue
        options = [word for word in _split(words.get(f"{name}_options", "")) if word not in _DETACHING]
        for instance in _instances(words, name):
            argv = (f"{_BINARIES}/{name}", *options, *instance, *common)
            started.append(SetupDaemon(name="-".join([name, *instance[1:]]), argv=argv))
    return tuple(started)


def frr_boot(daemons: Iterable[SetupDaemon], files: Iterable[NodeFile]) -> tuple[str, ...]:
    """Return the command that gives the integrated configuration to the daemons once they listen; empty without one."""
    if not any(file.path == INTEGRATED_FILE for file in files):
        return ()
    sockets = " ".join(f"{_SOCKETS}/{daemon.name}.vty" for daemon in daemons)
    wait = f"for s in {sockets}; do while [ ! -S $s ]; do sleep 0.01; done; done"
    return ("/bin/sh", "-c", f"{wait}; exec vtysh -b -n")


def starts_frr(argv: Sequence[str]) -> bool:
    """Return whether a command starts FRR by its start script, or as a service: labs do, whose image does not."""
    return any(all(map(re.fullmatch, pattern, argv)) for pattern in _STARTS if len(pattern) == len(argv))


def _assignments(text: str) -> Mapping[str, str]:
    """Return the variables of a shell file of plain assignments; the last one of a name holds."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _ASSIGNMENT.fullmatch(line)
        if match is not None:
            found[match[1]] = " ".join(_split(match[2]))
    return found


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _instances(words: Mapping[str, str], name: str) -> list[tuple[str, ...]]:
    numbers = [number.strip() for number in words.get(f"{name}_instances", "").split(",") if number.strip()]
    return [("-n", number) for number in numbers] or [()]
