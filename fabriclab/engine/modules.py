"""A user's own algorithm, one C file, becomes a module of the machine's kernel.

The kernel's artefact has what that takes (`images/machine/kernel/build.sh`, keep_headers): the headers that it was
compiled with, the compiler's words, and the names that a module may use. What was compiled is kept in the artefact
cache, by a hash of the text, the kernel and the compiler. What the file may read meanwhile: `own_source.py`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError, how_to_build, locate_artefacts
from fabriclab.engine.boundary import CONFINE
from fabriclab.engine.compiler import COMPILER, Reach, run_tool
from fabriclab.engine.own_source import (
    UNDEFINED,
    Complaint,
    assembly_complaints,
    files_read,
    line_of,
    outside,
    reading_complaint,
    text_complaints,
)
from fabriclab.engine.packed import UnusableError, cache_root, locked
from fabriclab.errors import printable
from fabriclab.formats.plan.algorithm import OwnAlgorithm

HEADERS = "headers"
COMPILED_FROM = "<stdin>"
"""What gcc's tables of lines sometimes call the user's file."""
_FORMAT = "fabriclab-module-2"
_LINE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?:\d+:)? (?P<kind>fatal error|error|warning|Error): (?P<text>.*)")
_MOST_TOLD = 8
_PROGRAMS = (COMPILER, "cc1", "as", "collect2", "<command-line>")
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
    confine: Path | None = None
    """What binds it while it reads a stranger's text (`Reach`)."""

    @classmethod
    def of(cls, artefacts: Artefacts) -> Compiler:
        """Return the compiler for a kernel. Raises EngineError where there is none, or the kernel has no headers."""
        directory = artefacts.kernel.parent
        headers = directory / HEADERS
        if not headers.is_dir():
            raise EngineError(
                f"{directory} has no headers to compile your own algorithm with, because another version of fabriclab "
                "built "
                f"it; remove that directory and {how_to_build()}"
            )
        if shutil.which(COMPILER) is None:
            raise EngineError(
                f"{COMPILER}, which compiles your own algorithms, is missing; install it (apt-get install gcc)"
            )
        version = run_tool([COMPILER, "-dumpmachine", "-dumpfullversion"], Reach()).stdout.strip()
        made_of = directory / "version"
        release = made_of.read_text() if made_of.is_file() else ""
        return cls(headers, f"{directory.name}\0{release}", version, artefacts.tools / CONFINE)

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
        unfinished = Path(tempfile.mkdtemp(prefix=f"{place.name}.partial.", dir=place.parent))
        try:
            module = unfinished / f"{algorithm.module}.ko"
            self._compile(algorithm, shown_as, module)
            self._check_names(algorithm, shown_as, module)
            shutil.rmtree(place, ignore_errors=True)
            unfinished.chmod(0o755)
            unfinished.rename(place)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise

    def _compile(self, algorithm: OwnAlgorithm, shown_as: str, module: Path) -> None:
        """Compile in the steps that gcc itself takes, and look between them at what was read."""
        if wrong := [*_missing_parts(algorithm.source), *text_complaints(algorithm.source)]:
            raise CompileError(shown_as, wrong)
        name = algorithm.module
        words = [
            *filter(None, (self.headers / "flags").read_text().split("\n")),
            *("-DMODULE", f'-DKBUILD_MODNAME="{name}"', f'-DKBUILD_BASENAME="{name}"'),
            *(f"-D__KBUILD_MODNAME=kmod_{name}", *UNDEFINED),
            # Lines of functions, for whoever looks where a crash was; no path of this host.
            *("-g1", self._mapped()),
            *("-fdiagnostics-color=never", "-fno-diagnostics-show-caret", "-x", "c"),
        ]
        # Without its directories, so that two labs have one module of one text; the kernel says it in WARN() and BUG().
        file = printable(Path(algorithm.file).name)
        quoted = file.replace("\\", "\\\\").replace('"', '\\"')
        text = f'#line 1 "{quoted}"\n{algorithm.source}\n{_MODULE}'
        with tempfile.TemporaryDirectory(dir=module.parent) as scratch:
            listed, assembly, made = (Path(scratch) / name for name in ("read", "assembly", module.name))
            step = partial(self._step, shown_as, file, listed)
            words += ["-MD", "-MF", str(listed)]
            step(text, (*words, "-E"), Path(scratch) / "preprocessed")
            step(text, (*words, "-S"), assembly)
            written = assembly.read_text(encoding="utf-8", errors="replace")
            if wrong := list(assembly_complaints(written, file, algorithm.source)):
                raise CompileError(shown_as, wrong)
            listing = ("-Xassembler", "--MD", "-Xassembler", str(listed))
            step(written, ("-m64", self._mapped(), *listing, "-x", "assembler", "-c"), made)
            made.rename(module)

    def _step(self, shown_as: str, file: str, listed: Path, text: str, words: Sequence[str], out: Path) -> None:
        """Take one step of compiling a text, which may write down at `listed` what files it read.

        Raises CompileError where it fails, or read what is not a header.
        """
        directory = self.headers / "objects"
        listed.unlink(missing_ok=True)
        argv = [COMPILER, *words, "-o", str(out), "-"]
        done = run_tool(argv, Reach((self.headers,), (out.parent,), self.confine), text, directory)
        if names := outside(files_read(listed), self.headers, directory):
            raise CompileError(shown_as, [reading_complaint(names)])
        if done.returncode:
            raise CompileError(shown_as, list(_complaints(done.stderr, file, self.headers)))

    def _mapped(self) -> str:
        """Return the word that leaves the paths of this host out."""
        return f"-fdebug-prefix-map={self.headers}=."

    def _check_names(self, algorithm: OwnAlgorithm, shown_as: str, module: Path) -> None:
        """Refuse a module that uses what the kernel does not offer to modules: it would not load it."""
        undefined = run_tool(["nm", "-u", str(module)], Reach((module.parent,), confine=self.confine)).stdout
        wanted = [line.split()[-1] for line in undefined.splitlines()]
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
                message = f'`{name}` may only be used by code under the GPL; write MODULE_LICENSE("GPL");'
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


def _complaints(said: str, file: str, headers: Path) -> Iterator[Complaint]:
    """Yield gcc's errors; where it has none of the file, what it said of the kernel's headers and of itself.

    What it says of any other file may be what that file holds.
    """
    told = [match for line in said.splitlines() if (match := _LINE.match(line))]
    errors = [match for match in told if match["file"] == file and match["kind"] != "warning"]
    for match in errors[:_MOST_TOLD]:
        yield Complaint(int(match["line"]), printable(match["text"]))
    if len(errors) > _MOST_TOLD:
        yield Complaint(None, f"and {len(errors) - _MOST_TOLD} more errors")
    if not errors:
        named = (line.partition(":")[0] for line in said.splitlines())
        lines = [line for line, name in zip(said.splitlines(), named, strict=True) if _is_ours(name, headers)]
        yield Complaint(None, f"{COMPILER} failed: {printable(' | '.join(lines[:_MOST_TOLD]).strip())}")


def _is_ours(name: str, headers: Path) -> bool:
    """Return whether a message of gcc's is of one of its programs, or of a header."""
    return name in _PROGRAMS or ("/" in name and not outside([name], headers, headers / "objects"))


def _place(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


def kernel_congestion_controls() -> tuple[str, ...]:
    """Return the congestion controls that are compiled into the machine's kernel; none where it is not built."""
    kernel = locate_artefacts()["kernel"]
    try:
        return tuple((kernel.parent / HEADERS / "congestion_controls").read_text().split()) if kernel else ()
    except OSError:
        return ()
