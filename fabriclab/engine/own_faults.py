"""What a user's own algorithm did to the machine's kernel: where it crashed, and whether it comes to an end.

A panic tells the instruction (`ip 0x...`) and the callers on the stack; a module's code begins where PID 1 said. That
nothing comes of it shows in the machine's clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabriclab.engine.modules import COMPILED_FROM
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.virtual_clock import OVERDUE_NS, VirtualClock, said
from fabriclab.formats.run_directory import MODULES

COMPUTING_S = 10.0
"""CPU time without an event after which the machine may count as stuck in an algorithm."""
STILL_NS = 20_000
"""It is, if its clock went on by less than this meanwhile. A thousand hosts at 400 Gbps are not as slow as that."""
ANSWER_PATIENCE_S = 3.0
"""How long the kernel may take to say where it is."""

_IP = re.compile(r"\bip 0x([0-9a-f]+)")
_CALLER = re.compile(r"\[<([0-9a-f]+)>\]")


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
        lines = said(["addr2line", "-i", "-f", "-e", module, "-j", ".text", hex(offset)]).splitlines()
        # Of functions that were put into others the user's own is the first one of the file.
        for function, place in zip(lines[::2], lines[1::2], strict=False):
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

    def __init__(self, process: MachineProcess, clock: VirtualClock) -> None:
        """Watch a machine that has this clock."""
        self._process = process
        self._clock = clock
        self._since: tuple[float, int] | None = None
        self._still_since: tuple[float, int] | None = None

    def moved(self) -> None:
        """Note that the machine gave a sign of life."""
        self._since = self._still_since = None

    def is_reached(self, *, speaks: bool) -> bool:
        """Return whether the machine has stood still for too long; `speaks`: it ought to, in virtual time."""
        cpu_s, now_ns = self._process.cpu_s(), self._clock.now_ns()
        if now_ns is None:
            return False
        now = (cpu_s, now_ns)
        self._since = self._since or now
        if self._still_since is None or now_ns - self._still_since[1] >= STILL_NS:
            self._still_since = now
        is_overdue = speaks and now_ns - self._since[1] > OVERDUE_NS and cpu_s - self._since[0] > COMPUTING_S
        return is_overdue or cpu_s - self._still_since[0] > COMPUTING_S
