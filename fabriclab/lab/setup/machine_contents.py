"""What the virtual machine has that nodes' own files may ask for: the programs of its root file system that work, and
the sysctls of its kernel. `tests/vm/test_machine_contents.py` compares both lists with the machine, and writes them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

PROGRAM_LIST, SYSCTL_LIST = "machine_programs.txt", "machine_sysctls.txt"
SEARCHED = ("/usr/sbin", "/usr/bin")
"""Where a name without a directory is looked for (the PATH of a node's programs), without what links to these."""
_LINKED = {"/bin": "/usr/bin", "/sbin": "/usr/sbin"}
_BY_INTERFACE = ("net/ipv4/conf", "net/ipv4/neigh", "net/ipv6/conf", "net/ipv6/neigh", "net/mpls/conf")
"""Directories of sysctls that have a directory for each interface."""
ANY_INTERFACE = "*"


def has_program(program: str) -> bool:
    """Return whether the root file system has a program, given by its name or its absolute path."""
    directory, _, name = program.rpartition("/")
    if not directory:
        return any(name in _programs().get(one, ()) for one in SEARCHED)
    return name in _programs().get(_LINKED.get(directory, directory), ())


def has_sysctl(name: str) -> bool:
    """Return whether the kernel has a sysctl of any interface's name, written in either of sysctl(8)'s ways."""
    return sysctl_path(name) in _sysctls()


def sysctl_path(name: str) -> str:
    """Return where a sysctl lies below `/proc/sys`, with `*` in place of an interface.

    The first separator decides: in `net.ipv4.conf.eth0/1.mtu` a slash stands for a dot, in `net/ipv4` for itself.
    """
    first = next((letter for letter in name if letter in "./"), "/")
    path = name.translate(str.maketrans("./", "/.")) if first == "." else name
    for directory in _BY_INTERFACE:
        inside = path.removeprefix(f"{directory}/")
        if inside != path:
            return f"{directory}/{ANY_INTERFACE}/{inside.rpartition('/')[2]}"
    return path


@cache
def _programs() -> dict[str, frozenset[str]]:
    """Return the names of programs by their directory. A line of the list begins with the directory."""
    lines = (line.split() for line in _text(PROGRAM_LIST).splitlines())
    found: dict[str, set[str]] = {}
    for directory, *names in (line for line in lines if line):
        found.setdefault(directory, set()).update(names)
    return {directory: frozenset(names) for directory, names in found.items()}


@cache
def _sysctls() -> frozenset[str]:
    """Return the sysctls' paths. A line of the list begins with their directory."""
    lines = (line.split() for line in _text(SYSCTL_LIST).splitlines())
    return frozenset(f"{directory}/{name}" for directory, *names in (line for line in lines if line) for name in names)


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
