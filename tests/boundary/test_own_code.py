"""An own algorithm in C reads the kernel's headers while it is compiled, and no other file of the host.

Each file here tries another way. What counts: it becomes no module, and nothing of the host's file is shown.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sample_algorithms import CONTROL

from fabriclab.engine import modules
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.compiler import Reach, run_tool
from fabriclab.engine.modules import CompileError, Compiler
from fabriclab.engine.own_source import assembly_complaints, files_read, outside, text_complaints
from fabriclab.engine.packed import cache_root
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.lab import LabError, parse_lab

SECRET = "hunter2_is_the_password"
BARE = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

static int __init mine_register(void)
{
	return 0;
}
module_init(mine_register);

MODULE_LICENSE("GPL");
"""
"""A module that needs the fewest headers: an algorithm's take the compiler three times as long."""
BAIT = f"{SECRET} other words: 1\n#{SECRET} directive\nstruct {SECRET} {{\n"


@pytest.fixture
def bait(tmp_path: Path) -> Path:
    """Return a file of the host that no algorithm may read, with words that a compiler would complain of."""
    file = tmp_path / "secret.txt"
    file.write_text(BAIT)
    return file


@pytest.fixture
def compiler(artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler.of(artefacts)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


def compiled(compiler: Compiler, source: str) -> Path:
    algorithm = OwnAlgorithm(
        kind="congestion_control", name="mine", file="mine.c", sha256=sha256_of(source), source=source
    )
    return compiler.module(algorithm, "lab/mine.c")


def refused(compiler: Compiler, source: str) -> str:
    """Return what is said of a file that does not become a module, and of which nothing is left."""
    with pytest.raises(CompileError) as caught:
        compiled(compiler, source)
    assert SECRET not in str(caught.value)
    assert not any(path.is_file() for path in (cache_root() / "modules").rglob("*") if path.suffix != ".lock")
    return str(caught.value)


INCLUDES = {
    "quoted": '#include "{file}"',
    "in angles": "#include <{file}>",
    "blanks and a comment": '#  /* a comment\n*/ include "{file}"',
    "a digraph": '%:include "{file}"',
    "a spliced line": '#inc\\\nlude "{file}"',
    "a spliced line with blanks": '#inc\\  \nlude "{file}"',
    "behind what looks like a comment": 'static const char *opened = "/*";\n#include "{file}"\n/* */',
    "by a macro": '#define FILE_OF_THE_HOST "{file}"\n#include FILE_OF_THE_HOST',
    "by a macro of one argument": "#define TEXT(x) #x\n#include TEXT({file})",
    "include_next": '#include_next "{file}"',
    "import": '#import "{file}"',
    "embed": 'static const char data[] = {{\n#embed "{file}"\n}};',
    "upwards": '#include "../../../../../../../../../../../../..{file}"',
    "upwards from a header's directory": "#include <linux/../../../../../../../../../../../../../../..{file}>",
    "a pragma": '#pragma GCC dependency "{file}"',
    "an operator": '_Pragma("GCC dependency \\"{file}\\"")',
}


def test_the_text_in_which_ways_are_tried_is_a_module(compiler: Compiler) -> None:
    assert compiled(compiler, BARE).is_file()


@pytest.mark.parametrize("way", INCLUDES)
def test_no_directive_reads_a_file_of_the_host(compiler: Compiler, bait: Path, way: str) -> None:
    said = refused(compiler, INCLUDES[way].format(file=bait) + "\n" + BARE)
    first = INCLUDES[way].format(file=bait).splitlines()
    assert any(said.startswith(f"lab/mine.c:{number}: ") for number in range(1, len(first) + 1)), said


@pytest.mark.parametrize("way", INCLUDES)
def test_nor_where_the_look_at_the_text_sees_nothing(
    compiler: Compiler, bait: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is looked at so that an error has a line; whoever gets past that meets the list of what gcc read."""
    monkeypatch.setattr(modules, "text_complaints", lambda _source: iter(()))
    try:
        module = compiled(compiler, INCLUDES[way].format(file=bait) + "\n" + BARE)
    except CompileError as error:
        assert SECRET not in str(error)
    else:
        assert "pragma" in way or "operator" in way, "they look at a file's date, and read nothing of it"
        assert SECRET.encode() not in module.read_bytes()


def test_a_header_s_own_macro_reads_no_other_file(
    compiler: Compiler, bait: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's file may define what an `#include` with a macro in a header comes to: this the list alone sees."""
    header = bait.with_suffix(".h")
    header.write_text("int harmless;\n")
    monkeypatch.setattr(modules, "text_complaints", lambda _source: iter(()))
    text = f'#define ELSEWHERE "{header}"\n#include ELSEWHERE\n' + BARE
    assert refused(compiler, text) == f"lab/mine.c:1: {header}: Permission denied"
    said = refused(replace(compiler, confine=None), text)
    assert said.startswith(f"lab/mine.c: it reads '{header}', which is not a kernel header")


def test_what_gcc_reads_in_one_step_alone_is_seen(
    compiler: Compiler, bait: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some gccs know what a pragma turns on when they compile, and not when they preprocess."""
    header = bait.with_suffix(".h")
    header.write_text(f'static const char stolen[] __used = "{SECRET}";\n')
    monkeypatch.setattr(modules, "text_complaints", lambda _source: iter(()))
    text = f'#pragma GCC target("bmi2")\n#ifdef __BMI2__\n#include "{header}"\n#endif\n'
    assert f"it reads '{header}'" in refused(replace(compiler, confine=None), text + BARE)


def test_the_name_of_a_file_is_no_line_of_it(compiler: Compiler, bait: Path) -> None:
    file = f'x"\n#include "{bait}"\nb.c'
    algorithm = OwnAlgorithm(kind="congestion_control", name="mine", file=file, sha256="", source=BARE)
    assert SECRET.encode() not in compiler.module(algorithm, "lab/mine.c").read_bytes()


ASKS = {
    "plainly": '__has_include("{file}")',
    "of the next": '__has_include_next("{file}")',
    "pasted": 'PASTED(__has_, include)("{file}")',
}


@pytest.mark.parametrize("way", ASKS)
def test_nobody_learns_whether_a_file_is_there(compiler: Compiler, bait: Path, way: str) -> None:
    question = ASKS[way].format(file=bait)
    text = f"#define PASTED(a, b) a##b\n#if {question}\nstatic int found;\n#endif\n"
    assert refused(compiler, text + BARE).startswith("lab/mine.c:2: ")


ASSEMBLY = {
    "plainly": 'asm(".incbin \\"{file}\\"");',
    "put together of two strings": 'asm(".inc" "bin \\"{file}\\"");',
    "in capitals": 'asm(".INCBIN \\"{file}\\"");',
    "behind another statement": 'asm("nop; .incbin \\"{file}\\"");',
    "behind a label": 'asm("there: .incbin \\"{file}\\"");',
    "by a macro of C": '#define OF(x) #x\n#define IN OF(.incbin)\nasm(IN " \\"{file}\\"");',
    "in a function": 'static void __used f(void)\n{{\n\tasm volatile(".incbin \\"{file}\\"");\n}}',
    "by a macro of the assembler": 'asm(".macro m a, b\\n.\\\\a\\\\b \\"{file}\\"\\n.endm\\nm inc, bin");',
    "by irp": 'asm(".irp w, bin\\n.inc\\\\w \\"{file}\\"\\n.endr");',
    "by altmacro": 'asm(".altmacro\\n.macro m a\\n.inc&a \\"{file}\\"\\n.endm\\nm bin");',
    "as text": 'asm(".include \\"{file}\\"");',
    "as text, by a macro": 'asm(".macro m a, b\\n.\\\\a\\\\b \\"{file}\\"\\n.endm\\nm inc, lude");',
    "in the syntax of another assembler": 'asm(".mri 1\\n include {file}\\n");',
}


@pytest.mark.parametrize("way", ASSEMBLY)
def test_no_assembly_reads_a_file_of_the_host(compiler: Compiler, bait: Path, way: str) -> None:
    assert refused(compiler, BARE + ASSEMBLY[way].format(file=bait) + "\n").startswith("lab/mine.c")


@pytest.mark.parametrize("way", ASSEMBLY)
def test_nor_where_the_look_at_the_assembly_sees_nothing(
    compiler: Compiler, bait: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "assembly_complaints", lambda *_: iter(()))
    refused(compiler, BARE + ASSEMBLY[way].format(file=bait) + "\n")


def test_assembly_is_complained_of_with_its_line(compiler: Compiler, bait: Path) -> None:
    said = refused(compiler, BARE + ASSEMBLY["plainly"].format(file=bait) + "\n")
    line = BARE.count("\n") + 1
    assert said.startswith(f"lab/mine.c:{line}: `.incbin` in assembly reads another file; an algorithm is one file")


def test_what_a_message_of_another_file_holds_is_not_shown(
    compiler: Compiler, bait: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gcc quotes what it complains about. Without the looks before it, nothing of that may come through either."""
    monkeypatch.setattr(modules, "text_complaints", lambda _source: iter(()))
    monkeypatch.setattr(modules, "files_read", lambda _list: [])
    said = refused(replace(compiler, confine=None), f'#include "{bait}"\n' + BARE)
    assert said.startswith("lab/mine.c: gcc failed")


def test_gcc_s_words_reach_no_terminal_as_they_are(compiler: Compiler) -> None:
    said = refused(compiler, "#error \x1b]0;owned\x07\n" + BARE)
    assert "\\x1b]0;owned\\x07" in said and "\x1b" not in said


def test_variables_of_gcc_s_lead_it_nowhere(
    compiler: Compiler, tmp_path: Path, bait: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CPATH", str(tmp_path))
    monkeypatch.setenv("DEPENDENCIES_OUTPUT", str(tmp_path / "written"))
    assert "secret.txt: No such file or directory" in refused(compiler, f"#include <{bait.name}>\n" + BARE)
    assert compiled(compiler, BARE).is_file() and not (tmp_path / "written").exists()


def test_the_compiler_reads_headers_and_writes_in_its_own_directory(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a launcher is to bind it to is what it is told: no step asks for more."""
    asked: list[Reach] = []

    def noted(
        argv: Sequence[str], reach: Reach, text: str = "", directory: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        asked.append(reach)
        return run_tool(argv, reach, text, directory)

    monkeypatch.setattr(modules, "run_tool", noted)
    module = compiled(compiler, CONTROL)
    cache = cache_root() / "modules"
    for reach in asked:
        assert all(one == compiler.headers or one.is_relative_to(cache) for one in reach.read)
        assert all(one.is_relative_to(cache) for one in reach.write)
    assert len(asked) == 4 and [path.name for path in module.parent.iterdir()] == [module.name]


ALLOWED = """#include <linux/module.h>
#include "net/tcp.h"
  #  include <net/tcp.h> /* "/etc/passwd" */
// #include "/etc/passwd"
/* #include "/etc/passwd"
#embed "/etc/passwd" __has_include("/etc/passwd") */
#define NAME "include"
#pragma GCC diagnostic push
static const char *text = "#include \\"/etc/passwd\\" .incbin";
"""


def test_what_an_algorithm_may_write_is_not_complained_of(compiler: Compiler) -> None:
    assert list(text_complaints(ALLOWED + CONTROL)) == []
    assert compiled(compiler, ALLOWED + CONTROL + 'asm(".pushsection .note; .string \\"; .incbin\\"; .popsection");\n')


def test_lists_of_files_are_read_as_make_reads_them(tmp_path: Path) -> None:
    listed = tmp_path / "list"
    listed.write_text("x.o: a.h \\\n /with\\ blank.h \\\n $$x\\#y.h\n")
    assert files_read(listed) == ["a.h", "/with blank.h", "$x#y.h"]
    assert files_read(tmp_path / "none") == []
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "out.h").symlink_to("/etc/passwd")
    assert outside(["in.h", "out.h", "../in.h", "/etc/passwd"], headers, headers) == ["out.h", "../in.h", "/etc/passwd"]


def test_a_link_in_the_lab_s_directory_leads_nowhere(tmp_path: Path, bait: Path) -> None:
    from own_labs import EXPERIMENT, TOPOLOGY

    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "topology.clab.yml").write_text(TOPOLOGY)
    (lab / "experiment.yml").write_text(EXPERIMENT)
    (lab / "other.c").write_text(CONTROL.replace('"mine"', '"other"'))
    (lab / "mine.c").symlink_to(bait)
    with pytest.raises(LabError, match=r"'\./mine\.c': lies outside the lab's directory") as caught:
        parse_lab(lab)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("look", [text_complaints, lambda text: assembly_complaints(text, "mine.c", text)])
def test_a_look_ends_whatever_it_sees(look: Callable[[str], object]) -> None:
    for text in ("", '"', "'", "/*", "\\\n" * 9999, '"' * 9999, "#" * 9999, "\x00\x01\n" * 999, "# 1 " * 999):
        list(look(text))  # type: ignore[call-overload]
