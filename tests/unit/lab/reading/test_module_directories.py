"""An own algorithm of several files: how a lab names their directory, and how they become one module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from own_labs import EXPERIMENT, TOPOLOGY
from sample_modules import FILES, HEADER, REGISTER, write_module

from fabriclab.api.consent import code_subject, recorded_request
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.modules import CompileError, Compiler
from fabriclab.engine.packed import cache_root
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.algorithm import OwnAlgorithm, SourceFile, sha256_of, text_of_files
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    directory = tmp_path / "lab"
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    text = EXPERIMENT.replace("{congestion_control: ./mine.c}", "{congestion_control: ./mine/}")
    (directory / "experiment.yml").write_text(text.replace("[./mine.c, reno, ./other.c]", "[./mine, reno]"))
    write_module(directory / "mine")
    return directory


def mistake(directory: Path) -> str:
    with pytest.raises(LabError) as caught:
        parse_lab(directory)
    return str(caught.value.mistakes[0]).replace(str(directory), "lab")


def test_a_directory_stands_for_what_its_files_register(lab: Path) -> None:
    plan = resolve_plan(parse_lab(lab), {})
    (algorithm,) = plan.algorithms
    assert (algorithm.name, algorithm.file, algorithm.module) == ("mine", "mine", "own_mine")
    assert {one.name: one.text for one in algorithm.files} == FILES and algorithm.source == ""
    assert [one.name for one in algorithm.compiled] == ["avoid.c", "register.c"]
    assert algorithm.sha256 == sha256_of(algorithm.text)
    assert parse_plan_json(plan_json(plan)) == plan
    assert [one["name"] for one in json.loads(plan_json(plan))["algorithms"][0]["files"]] == list(FILES)


def test_a_run_keeps_the_files(lab: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    write_inputs(resolve_plan(parse_lab(lab), {}), lab, run)
    kept = run / "machine/modules/own_mine"
    assert {path.name: path.read_text() for path in kept.iterdir()} == FILES


def test_the_files_are_what_is_trusted(lab: Path) -> None:
    plan = resolve_plan(parse_lab(lab), {})
    (item,) = recorded_request({lab / "run": plan}, lab).items
    assert item.sha256 == plan.algorithms[0].sha256 and item.lines == plan.algorithms[0].text.count("\n")
    before = code_subject(plan.algorithms)
    (lab / "mine" / "mine.h").write_text(HEADER.replace("u32 ack", "u32 other"))
    assert code_subject(resolve_plan(parse_lab(lab), {}).algorithms) != before


@pytest.mark.parametrize(
    ("remove", "said"),
    [
        ("all", "'./mine/' has no C file; a module's files lie in the directory itself, and end with .c"),
        ("register.c", "'./mine/' registers no congestion control; write a `struct tcp_congestion_ops`"),
    ],
)
def test_what_a_directory_needs(lab: Path, remove: str, said: str) -> None:
    for name in FILES if remove == "all" else [remove]:
        (lab / "mine" / name).unlink()
    assert said in mistake(lab)


def test_a_directory_is_the_labs_own(lab: Path, tmp_path: Path) -> None:
    (lab / "mine").rename(tmp_path / "elsewhere")
    (lab / "mine").symlink_to(tmp_path / "elsewhere")
    where = "lab/experiment.yml:4: hosts.default.congestion_control: './mine/'"
    assert mistake(lab).startswith(f"{where}: lies outside the lab's directory (with links resolved)")
    (lab / "mine").unlink()
    write_module(lab / "mine")
    (lab / "mine" / "mine.h").unlink()
    (lab / "mine" / "mine.h").symlink_to(tmp_path / "elsewhere" / "mine.h")
    assert "'./mine/mine.h': lies outside the lab's directory" in mistake(lab)


@pytest.fixture
def compiler(artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler.of(artefacts)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


def module(**texts: str) -> OwnAlgorithm:
    files = tuple(SourceFile(name=name, text=texts.get(Path(name).stem, text)) for name, text in FILES.items())
    sha256 = sha256_of(text_of_files(files))
    return OwnAlgorithm(kind="congestion_control", name="mine", file="mine", sha256=sha256, files=files)


def complaints(compiler: Compiler, **texts: str) -> list[str]:
    with pytest.raises(CompileError) as caught:
        compiler.module(module(**texts), "lab/mine")
    assert not list((cache_root() / "modules").glob("*partial*"))
    return str(caught.value).splitlines()


def test_it_is_compiled_once(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiler.module(module(), "lab/mine")
    assert first.read_bytes().startswith(b"\x7fELF") and first.name == "own_mine.ko"
    assert str(first.parent).encode() not in first.read_bytes()
    monkeypatch.setattr(Compiler, "_make", None)
    assert compiler.module(module(), "elsewhere/mine") == first
    with pytest.raises(TypeError):
        compiler.module(module(mine=HEADER + "/* another */\n"), "lab/mine")


def test_errors_name_the_file_of_the_directory(compiler: Compiler) -> None:
    (said,) = complaints(compiler, register=REGISTER.replace("= mine_avoid", "= mine_avoyd"))
    assert said.startswith("lab/mine/register.c:7: 'mine_avoyd' undeclared")
    said = complaints(compiler, mine=HEADER.replace("u32 ack,", "u33 ack,"))[0]
    assert said.startswith("lab/mine/mine.h:7: unknown type name 'u33'")
    (said,) = complaints(compiler, avoid='#include "mine.h"\n')
    assert said.startswith("lab/mine/register.c:7: the kernel has no `mine_avoid` for modules")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('#include "../other.h"', "`#include` names a file that is not a kernel header"),
        ("#include </etc/passwd>", "`#include` names a file that is not a kernel header"),
        ('asm(".incbin \\"mine.h\\"");', "`.incbin` in assembly reads another file"),
    ],
)
def test_headers_are_those_of_the_directory_and_the_kernel(compiler: Compiler, line: str, said: str) -> None:
    found = complaints(compiler, register=f"{REGISTER}\n{line}\n")
    assert found[0].startswith("lab/mine/register.c:") and said in found[0]


def test_the_clock_of_a_directory_is_virtual(compiler: Compiler) -> None:
    code = "void mine_wait(void);\nvoid mine_wait(void)\n{\n\twhile (get_cycles() < 100)\n\t\tschedule();\n}\n"
    made = compiler.module(module(register=f"{REGISTER}\n#include <linux/timex.h>\n{code}"), "lab/mine")
    # Of UML itself get_cycles() is 0, and no function is called.
    assert b"ktime_get" in made.read_bytes() and b"usleep_range_state" in made.read_bytes()


def test_a_header_by_itself_is_no_algorithm(lab: Path) -> None:
    experiment = lab / "experiment.yml"
    experiment.write_text(
        experiment.read_text().replace("congestion_control: ./mine/", "congestion_control: ./mine/mine.h")
    )
    assert "'./mine/mine.h' is not a C file; write the name of one" in mistake(lab)
