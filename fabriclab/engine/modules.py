"""A user's own algorithm, one C file, becomes a module of the machine's kernel.

The kernel's artefact has what that takes (`images/machine/kernel/build.sh`, keep_headers): the headers that it was
compiled with, the compiler's words, and the names that a module may use. What was compiled is kept in the artefact
cache, by a hash of the text, the kernel and the compiler.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fabriclab.engine.artefacts import Artefacts, EngineError, how_to_build, locate_artefacts
from fabriclab.engine.packed import UnusableError, cache_root, locked
from fabriclab.formats.plan.algorithm import OwnAlgorithm

COMPILER = "gcc"
HEADERS = "headers"
COMPILED_FROM = "<stdin>"
"""What gcc's tables of lines sometimes call the user's file."""
_FORMAT = "fabriclab-module-1"
_PATIENCE_S = 300.0
_LINE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?:\d+:)? (?P<kind>fatal error|error|warning): (?P<text>.*)")
_MOST_TOLD = 8
_MACROS = {"module_init": "module_init(mine_register);", "MODULE_LICENSE": 'MODULE_LICENSE("GPL");'}
"""What every module has, and how it is written."""
_MODULE = """
#line 1 "fabriclab"
#define INCLUDE_VERMAGIC
#include <linux/vermagic.h>
MODULE_INFO(vermagic, VERMAGIC_STRING);
MODULE_INFO(name, KBUILD_MODNAME);
MODULE_INFO(depends, "");
__visible struct module __this_module __section(".gnu.linkonce.this_module") = {
	.name = KBUILD_MODNAME,
	.init = init_module,
	.arch = MODULE_ARCH_INIT,
};
"""
"""What Linux's modpost puts behind a module (scripts/mod/modpost.c, add_header), without what this kernel has not."""


class Complaint(NamedTuple):
    """What is wrong with a line of the user's file; None: with the file."""

    line: int | None
    message: str


class CompileError(EngineError):
    """A user's algorithm does not become a module; each complaint has the line of the user's file."""

    def __init__(self, file: str, complaints: Sequence[Complaint]) -> None:
        self.file = file
        self.complaints = tuple(complaints)
        super().__init__("\n".join(f"{_place(file, one.line)}: {one.message}" for one in complaints))


@dataclass(frozen=True)
class Compiler:
    """What turns algorithms into modules of one kernel."""

    headers: Path
    key: str
    """The kernel's, and what it was made of: of one key of before November 2026 there may be two point releases."""
    version: str
    """gcc's own name and version."""

    @classmethod
    def of(cls, artefacts: Artefacts) -> Compiler:
        """Return the compiler for a kernel. Raises EngineError where there is none, or the kernel has no headers."""
        directory = artefacts.kernel.parent
        headers = directory / HEADERS
        if not headers.is_dir():
            raise EngineError(
                f"{directory} has no headers, with which an algorithm of your own is compiled: it was built by another "
                f"version of fabriclab; remove that directory and {how_to_build()}"
            )
        if shutil.which(COMPILER) is None:
            raise EngineError(
                f"{COMPILER} is missing, which compiles an algorithm of your own: install it (apt-get install gcc)"
            )
        version = _run([COMPILER, "-dumpmachine", "-dumpfullversion"]).stdout.strip()
        made_of = directory / "version"
        release = made_of.read_text() if made_of.is_file() else ""
        return cls(headers, f"{directory.name}\0{release}", version)

    def module(self, algorithm: OwnAlgorithm, shown_as: str) -> Path:
        """Return the module of an algorithm, compiled unless it was before; others that want it at once wait.

        `shown_as`: the user's file, as errors name it. Raises CompileError, EngineError.
        """
        try:
            place = cache_root() / "modules" / self._hash(algorithm)
        except UnusableError as error:
            raise EngineError(str(error)) from error
        module = place / f"{algorithm.module}.ko"
        if not module.is_file():
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                with locked(place.with_name(f"{place.name}.lock")):
                    if not module.is_file():
                        self._make(algorithm, shown_as, place)
            except OSError as error:
                raise EngineError(f"{shown_as} can't be compiled in {place.parent}: {error}") from error
        return module

    def _hash(self, algorithm: OwnAlgorithm) -> str:
        names = (algorithm.module, Path(algorithm.file).name)
        parts = (_FORMAT, _MODULE, self.key, self.version, *names, algorithm.source)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def _make(self, algorithm: OwnAlgorithm, shown_as: str, place: Path) -> None:
        partial = Path(tempfile.mkdtemp(prefix=f"{place.name}.partial.", dir=place.parent))
        try:
            module = partial / f"{algorithm.module}.ko"
            self._compile(algorithm, shown_as, module)
            self._check_names(algorithm, shown_as, module)
            shutil.rmtree(place, ignore_errors=True)
            partial.chmod(0o755)
            partial.rename(place)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _compile(self, algorithm: OwnAlgorithm, shown_as: str, module: Path) -> None:
        if missing := list(_missing_parts(algorithm.source)):
            raise CompileError(shown_as, missing)
        name = algorithm.module
        words = [
            *(self.headers / "flags").read_text().split("\n"),
            *("-DMODULE", f'-DKBUILD_MODNAME="{name}"', f'-DKBUILD_BASENAME="{name}"'),
            f"-D__KBUILD_MODNAME=kmod_{name}",
            # Lines of functions, for whoever looks where a crash was; no path of this host.
            *("-g1", f"-fdebug-prefix-map={self.headers}=."),
            *("-fdiagnostics-color=never", "-fno-diagnostics-show-caret"),
            *("-x", "c", "-c", "-o", str(module), "-"),
        ]
        # Without its directories, so that two labs have one module of one text; the kernel says it in WARN() and BUG().
        file = Path(algorithm.file).name
        quoted = file.replace("\\", "\\\\").replace('"', '\\"')
        text = f'#line 1 "{quoted}"\n{algorithm.source}\n{_MODULE}'
        done = _run([COMPILER, *filter(None, words)], text, self.headers / "objects")
        if done.returncode:
            raise CompileError(shown_as, list(_complaints(done.stderr, file)))

    def _check_names(self, algorithm: OwnAlgorithm, shown_as: str, module: Path) -> None:
        """Refuse a module that uses what the kernel does not offer to modules: it would not load it."""
        wanted = [line.split()[-1] for line in _run(["nm", "-u", str(module)]).stdout.splitlines()]
        symbols = (line.split() for line in (self.headers / "symbols").read_text().splitlines())
        offered = {name: licence for licence, name in symbols}
        free = re.search(r'MODULE_LICENSE\s*\(\s*"([^"]*)"', algorithm.source)
        is_gpl = free is not None and "GPL" in free[1]
        complaints = []
        for name in wanted:
            line = line_of(algorithm.source, name)
            if name not in offered:
                message = f"the kernel has no `{name}` for modules: it is declared, but not exported (EXPORT_SYMBOL)"
                complaints.append(Complaint(line, message))
            elif offered[name] == "GPL" and not is_gpl:
                message = f'`{name}` is for code under the GPL alone; write MODULE_LICENSE("GPL");'
                complaints.append(Complaint(line, message))
        if complaints:
            raise CompileError(shown_as, complaints)


def compile_modules(artefacts: Artefacts, algorithms: Sequence[OwnAlgorithm], lab: Path) -> dict[str, Path]:
    """Return the modules of algorithms whose files lie in a lab's directory, by their names.

    Raises CompileError for the first one that is wrong, EngineError where none can be compiled here.
    """
    compiler = Compiler.of(artefacts) if algorithms else None
    return {
        algorithm.module: compiler.module(algorithm, os.path.normpath(lab / algorithm.file))
        for algorithm in algorithms
        if compiler is not None
    }


def _missing_parts(source: str) -> Iterator[Complaint]:
    """Yield what every module has and a file has not: gcc and the loader would say so in other words."""
    for macro, example in _MACROS.items():
        if re.search(rf"\b{macro}\s*\(", source) is None:
            yield Complaint(None, f"{macro}() is missing; write {example} at its end")


def _complaints(said: str, file: str) -> Iterator[Complaint]:
    """Yield gcc's errors; where it has none of the file, all that it said."""
    told = [match for line in said.splitlines() if (match := _LINE.match(line))]
    errors = [match for match in told if match["file"] == file and match["kind"] != "warning"]
    for match in errors[:_MOST_TOLD]:
        yield Complaint(int(match["line"]), match["text"])
    if len(errors) > _MOST_TOLD:
        yield Complaint(None, f"and {len(errors) - _MOST_TOLD} more errors")
    if not errors:
        yield Complaint(None, f"{COMPILER} failed: {' | '.join(said.split(chr(10))[:_MOST_TOLD]).strip()}")


def line_of(source: str, name: str) -> int | None:
    """Return the first line on which a name stands as a word, outside comments; None where it does not."""
    blank = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), source, flags=re.DOTALL)
    found = re.search(rf"\b{re.escape(name)}\b", blank)
    return None if found is None else source.count("\n", 0, found.start()) + 1


def _place(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


def _run(argv: Sequence[str], text: str = "", directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the compiler or one of its tools, in plain English. Raises EngineError where it does not end."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(
            argv,
            input=text,
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{argv[0]} can't compile an algorithm of your own: {error}") from error


def kernel_congestion_controls() -> tuple[str, ...]:
    """Return the congestion controls that are compiled into the machine's kernel; none where it is not built."""
    kernel = locate_artefacts()["kernel"]
    try:
        return tuple((kernel.parent / HEADERS / "congestion_controls").read_text().split()) if kernel else ()
    except OSError:
        return ()
