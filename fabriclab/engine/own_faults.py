"""What a user's own algorithm did to the machine's kernel: where it crashed, and whether it comes to an end.

Both show in the kernel's memory and words: User-Mode Linux is a program of this host's, at fixed addresses. A panic
tells the instruction (`ip 0x...`) and the callers on the stack; a module's code begins where PID 1 said.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabriclab.engine.modules import COMPILED_FROM
from fabriclab.engine.process import MachineProcess
from fabriclab.formats.run_directory import MODULES

COMPUTING_S = 10.0
"""CPU time without an event after which the machine may count as stuck in an algorithm."""
STILL_NS = 5_000_000
"""It is, if its clock went on by less than this meanwhile. A lab as slow as that would be given up anyway, after
`stall_s` without a sign of life, which come every 100 virtual ms."""
OVERDUE_NS = 500_000_000
"""It is as well, if its clock went on by more than this: then PID 1, which speaks every 100 virtual ms, never ran."""
ANSWER_PATIENCE_S = 3.0
"""How long the kernel may take to say where it is."""

_IP = re.compile(r"\bip 0x([0-9a-f]+)")
_CALLER = re.compile(r"\[<([0-9a-f]+)>\]")
_CLOCK = "time_travel_time"
"""The kernel's virtual clock, a variable of arch/um/kernel/time.c."""
_TOOL_PATIENCE_S = 60


@dataclass
class OwnModules:
    """The modules of a run that a user wrote."""

    directory: Path
    """The run directory."""
    files: Mapping[str, str]
    """The user's file of each module, by the module's name."""
    _addresses: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files)

    def loaded(self, name: str, address: str) -> None:
        """Note where a module's code begins, in hexadecimal digits."""
        self._addresses[name] = int(address, 16)

    @property
    def are_loaded(self) -> bool:
        """Return whether there is any in the kernel."""
        return bool(self._addresses)

    @property
    def names(self) -> str:
        """The user's files."""
        return ", ".join(self.files.values())

    def place(self, said: Iterable[str]) -> tuple[str, str] | None:
        """Return the user's file and the function with its line that a panic points to; None where it is elsewhere.

        The instruction itself comes first, then its callers, the innermost one first.
        """
        return next(self._places("\n".join(said)), None)

    def _places(self, said: str) -> Iterator[tuple[str, str]]:
        addresses = [int(digits, 16) for digits in _IP.findall(said)]
        # What a call returns to is the instruction behind it.
        addresses += [int(digits, 16) - 1 for digits in _CALLER.findall(said)]
        for address in addresses:
            for name, begin in self._addresses.items():
                if begin <= address < begin + self._module(name).stat().st_size:
                    place = self._function(name, address - begin)
                    if place is not None:
                        yield self.files[name], place

    def _module(self, name: str) -> Path:
        return self.directory / MODULES / f"{name}.ko"

    def _function(self, name: str, offset: int) -> str | None:
        """Return the function and line of the user's file that an offset into the code belongs to."""
        module = str(self._module(name))
        said = _said(["addr2line", "-i", "-f", "-e", module, "-j", ".text", hex(offset)]).splitlines()
        # Of functions that were put into others the user's own is the first one of the file.
        for function, place in zip(said[::2], said[1::2], strict=False):
            file, _, line = place.partition(" ")[0].rpartition(":")
            file = Path(file).name
            if not line.isdigit():
                continue
            if file in (Path(self.files[name]).name, COMPILED_FROM):
                return f"{function}() at line {line}"
            if (self.directory / MODULES / name / file).is_file():
                return f"{function}() at line {line} of {file}"
        return None


class Standstill:
    """Whether a machine computes and computes, and nothing comes of it."""

    def __init__(self, process: MachineProcess, kernel: Path) -> None:
        """Watch a machine that runs this kernel."""
        self._process = process
        self._clock = _address(kernel, _CLOCK)
        self._since: tuple[float, int] | None = None

    def moved(self) -> None:
        """Note that the machine gave a sign of life."""
        self._since = None

    def is_reached(self, *, speaks: bool) -> bool:
        """Return whether the machine has stood still for too long; `speaks`: it ought to, in virtual time."""
        cpu_s, now_ns = self._process.cpu_s(), self._virtual_ns()
        if now_ns is None:
            return False
        if self._since is None:
            self._since = (cpu_s, now_ns)
        went_on_ns = now_ns - self._since[1]
        is_still = went_on_ns < STILL_NS or (speaks and went_on_ns > OVERDUE_NS)
        return cpu_s - self._since[0] > COMPUTING_S and is_still

    def _virtual_ns(self) -> int | None:
        if self._clock is None:
            return None
        return self._process.word_at(self._clock)


def _address(program: Path, name: str) -> int | None:
    """Return where a variable of a program lies; None where its symbols are gone."""
    found = re.search(rf"^([0-9a-f]+) \w {name}$", _said(["nm", str(program)]), re.MULTILINE)
    return None if found is None else int(found[1], 16)


def _said(argv: list[str]) -> str:
    """Return what a tool says; nothing where it is missing."""
    try:
        done = subprocess.run(
            argv,
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=_TOOL_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
