"""A user's own algorithm, one C file or a directory of them, becomes a module of the machine's kernel.

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
from collections.abc import Iterable, Iterator, Sequence
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
from fabriclab.formats.plan.algorithm import OwnAlgorithm, SourceFile

HEADERS = "headers"
COMPILED_FROM = "<stdin>"
"""What gcc's tables of lines sometimes call the user's file."""
_FORMAT = "fabriclab-module-2"
_LINE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?:\d+:)? (?P<kind>fatal error|error|warning|Error): (?P<text>.*)")
_MOST_TOLD = 8
_MOST_LETTERS = 2000
_PROGRAMS = (COMPILER, "cc1", "as", "collect2", "<command-line>")
_LINKER = "ld"
_PARTS = "parts"
"""Where the files of a directory lie while they are compiled."""
_OF_DIRECTORIES = "linux/own_module.h"
"""The kernel's header that each file of a directory begins with."""
_AT_END = "fabriclab"
"""What the file is called that has what every module needs (`_MODULE`), if a module has several."""
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
        super().__init__("\n".join(f"{_place(self.place(one), one.line)}: {one.message}" for one in complaints))

    def place(self, complaint: Complaint) -> str:
        """Return the file that a complaint is about."""
        return f"{self.file}/{complaint.file}" if complaint.file else self.file


@dataclass(frozen=True)
class _Unit:
    """A file that is compiled by itself."""

    module: str
    source: SourceFile
    shown_as: str
    directory: Path | None = None
    """Where the module's files lie, if it has several."""

    def error(self, complaints: Iterable[Complaint]) -> CompileError:
        """Return what is wrong with the file, or with the headers of its directory."""
        if self.directory is None:
            return CompileError(self.shown_as, list(complaints))
        return CompileError(self.shown_as, [one._replace(file=one.file or self.source.name) for one in complaints])

    def own(self, name: str) -> str | None:
        """Return the name in the user's directory of a file that gcc names; None: it is not the user's."""
        if self.directory is not None and name.startswith(f"{self.directory}/"):
            return Path(name).name
        return self.source.name if name == printable(self.source.name) else None


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
        parts = [_FORMAT, _MODULE, self.key, self.version, *names, algorithm.source]
        for one in algorithm.files:
            parts += [one.name, one.text]
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
        """Compile each file, and put the results together. Raises CompileError."""
        wrong = [*_missing_parts(algorithm.text)]
        for one in algorithm.files or algorithm.compiled:
            found = text_complaints(one.text)
            wrong += [each._replace(file=one.name) for each in found] if algorithm.files else found
        if wrong:
            raise CompileError(shown_as, wrong)
        with tempfile.TemporaryDirectory(dir=module.parent) as scratch:
            made = Path(scratch) / module.name
            if algorithm.files:
                self._compile_files(algorithm, shown_as, Path(scratch), made)
            else:
                (one,) = algorithm.compiled
                self._compile_one(_Unit(algorithm.module, one, shown_as), Path(scratch), made)
            made.rename(module)

    def _compile_files(self, algorithm: OwnAlgorithm, shown_as: str, scratch: Path, made: Path) -> None:
        """Compile the files of a directory, each of which may include its headers, and link them."""
        parts = scratch / _PARTS
        parts.mkdir()
        for one in algorithm.files:
            (parts / one.name).write_text(one.text, encoding="utf-8")
        end = SourceFile(name=_AT_END, text=f"#include <linux/module.h>\n{_MODULE}")
        objects = []
        for number, one in enumerate((*algorithm.compiled, end)):
            objects.append(str(scratch / f"{number}.o"))
            self._compile_one(_Unit(algorithm.module, one, shown_as, parts), scratch, Path(objects[-1]))
        reach = Reach((scratch,), (scratch,), self.confine)
        done = run_tool([_LINKER, "-r", "-m", "elf_x86_64", "-o", str(made), *objects], reach)
        if done.returncode:
            said = printable(done.stderr.replace(f"{scratch}/", "").strip())
            raise CompileError(shown_as, [Complaint(None, f"{_LINKER} failed: {said[:_MOST_LETTERS]}")])

    def _compile_one(self, unit: _Unit, scratch: Path, made: Path) -> None:
        """Compile a file in the steps that gcc itself takes, and look between them at what was read."""
        # Without its directories, so that two labs have one module of one text; the kernel says it in WARN() and BUG().
        file = printable(unit.source.name)
        quoted = file.replace("\\", "\\\\").replace('"', '\\"')
        text = f'#line 1 "{quoted}"\n{unit.source.text}\n{_MODULE if unit.directory is None else ""}'
        listed, assembly = scratch / "read", scratch / "assembly"
        step = partial(self._step, unit, listed)
        words = (*self._words(unit), "-MD", "-MF", str(listed))
        step(text, (*words, "-E"), scratch / "preprocessed")
        step(text, (*words, "-S"), assembly)
        written = assembly.read_text(encoding="utf-8", errors="replace")
        if wrong := list(assembly_complaints(written, file, unit.source.text)):
            raise unit.error(wrong)
        listing = ("-Xassembler", "--MD", "-Xassembler", str(listed))
        step(written, ("-m64", *self._mapped(unit), *listing, "-x", "assembler", "-c"), made)

    def _words(self, unit: _Unit) -> Iterator[str]:
        """Yield gcc's words, but those of a step."""
        name = unit.module
        yield from filter(None, (self.headers / "flags").read_text().split("\n"))
        yield from ("-DMODULE", f'-DKBUILD_MODNAME="{name}"', f'-DKBUILD_BASENAME="{name}"')
        yield from (f"-D__KBUILD_MODNAME=kmod_{name}", *UNDEFINED)
        # Lines of functions, for whoever looks where a crash was; no path of this host.
        yield from ("-g1", *self._mapped(unit))
        yield from ("-fdiagnostics-color=never", "-fno-diagnostics-show-caret", "-x", "c")
        if unit.directory is not None:
            yield from ("-include", _OF_DIRECTORIES, "-iquote", str(unit.directory))

    def _step(self, unit: _Unit, listed: Path, text: str, words: Sequence[str], out: Path) -> None:
        """Take one step of compiling a text, which may write down at `listed` what files it read.

        Raises CompileError where it fails, or read what is not a header.
        """
        directory = self.headers / "objects"
        listed.unlink(missing_ok=True)
        argv = [COMPILER, *words, "-o", str(out), "-"]
        own = () if unit.directory is None else (unit.directory,)
        done = run_tool(argv, Reach((self.headers, *own), (out.parent,), self.confine), text, directory)
        names = outside(files_read(listed), self.headers, directory)
        if unit.directory is not None:
            names = outside(names, unit.directory, directory)
        if names:
            raise unit.error([reading_complaint(names)])
        if done.returncode:
            raise unit.error(list(_complaints(done.stderr, unit, self.headers)))

    def _mapped(self, unit: _Unit) -> Iterator[str]:
        """Yield the words that leave the paths of this host out."""
        yield f"-fdebug-prefix-map={self.headers}=."
        if unit.directory is not None:
            # Also of __FILE__, in WARN() of a header.
            yield f"-ffile-prefix-map={unit.directory}/="

    def _check_names(self, algorithm: OwnAlgorithm, shown_as: str, module: Path) -> None:
        """Refuse a module that uses what the kernel does not offer to modules: it would not load it."""
        undefined = run_tool(["nm", "-u", str(module)], Reach((module.parent,), confine=self.confine)).stdout
        wanted = [line.split()[-1] for line in undefined.splitlines()]
        symbols = (line.split() for line in (self.headers / "symbols").read_text().splitlines())
        offered = {name: licence for licence, name in symbols}
        free = re.search(r'MODULE_LICENSE\s*\(\s*"([^"]*)"', algorithm.text)
        is_gpl = free is not None and "GPL" in free[1]
        complaints = []
        for name in wanted:
            line, file = _first_line(algorithm, name)
            if name not in offered:
                message = f"the kernel has no `{name}` for modules: it is declared, but not exported (EXPORT_SYMBOL)"
                complaints.append(Complaint(line, message, file))
            elif offered[name] == "GPL" and not is_gpl:
                message = f'`{name}` may only be used by code under the GPL; write MODULE_LICENSE("GPL");'
                complaints.append(Complaint(line, message, file))
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


def _first_line(algorithm: OwnAlgorithm, name: str) -> tuple[int | None, str]:
    """Return where a name first stands in what is compiled: the line, and of a directory the file."""
    for one in algorithm.compiled:
        if (line := line_of(one.text, name)) is not None:
            return line, one.name if algorithm.files else ""
    return None, ""


def _complaints(said: str, unit: _Unit, headers: Path) -> Iterator[Complaint]:
    """Yield gcc's errors; where it has none of the user's files, what it said of the kernel's headers and of itself.

    What it says of any other file may be what that file holds.
    """
    told = [match for line in said.splitlines() if (match := _LINE.match(line))]
    errors = [(match, file) for match in told if (file := unit.own(match["file"])) and match["kind"] != "warning"]
    for match, file in errors[:_MOST_TOLD]:
        yield Complaint(int(match["line"]), printable(match["text"]), file if unit.directory is not None else "")
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
