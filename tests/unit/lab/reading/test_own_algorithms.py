"""A user's own congestion control: how a lab names it, what a plan keeps of it, and how it becomes a module."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from own_labs import EXPERIMENT, TOPOLOGY, own
from sample_algorithms import AVOID_LINE, CONTROL, control

import fabriclab
from fabriclab.compile import compile_job, compile_machine_sysctl
from fabriclab.engine import modules
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.containers import ContainerLab
from fabriclab.engine.modules import CompileError, Compiler, compile_modules, kernel_congestion_controls
from fabriclab.engine.own_source import line_of
from fabriclab.engine.packed import cache_root
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.reading import kernel_names
from fabriclab.lab.reading.own_algorithms import registered_name
from fabriclab.live.changing import _refuse_not_loaded
from fabriclab.live.clients import Refused
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs
from fabriclab.runs.engines import check_engine, keep_modules


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    directory = tmp_path / "lab"
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "experiment.yml").write_text(EXPERIMENT)
    (directory / "mine.c").write_text(CONTROL)
    (directory / "other.c").write_text(control(name="other"))
    return directory


def mistakes(directory: Path, old: str = "", new: str = "") -> list[str]:
    text = (directory / "experiment.yml").read_text()
    assert old in text
    (directory / "experiment.yml").write_text(text.replace(old, new))
    with pytest.raises(LabError) as caught:
        parse_lab(directory)
    return [str(mistake).replace(str(directory), "lab") for mistake in caught.value.mistakes]


def test_a_file_stands_for_what_it_registers(lab: Path) -> None:
    plan = resolve_plan(parse_lab(lab), {})
    assert {node.transport.congestion_control for node in plan.nodes if node.transport} == {"mine"}
    (algorithm,) = plan.algorithms
    assert (algorithm.name, algorithm.file, algorithm.module) == ("mine", "mine.c", "own_mine")
    assert algorithm.source == CONTROL and algorithm.sha256 == sha256_of(CONTROL)
    assert plan.parameters == {"control": "./mine.c"}
    assert compile_job(plan)["modules"] == ["machine/modules/own_mine.ko"]
    assert "tcp_allowed_congestion_control = cubic mine reno" in compile_machine_sysctl(plan)
    assert parse_plan_json(plan_json(plan)) == plan


def test_a_sweep_may_vary_the_file(lab: Path) -> None:
    read = parse_lab(lab)
    plans = [resolve_plan(read, point) for point in read.points("all")]
    assert [[one.name for one in plan.algorithms] for plan in plans] == [["mine"], [], ["other"]]
    assert "algorithms" not in json.loads(plan_json(plans[1])) and "modules" not in compile_job(plans[1])


def test_what_is_overridden_everywhere_is_not_compiled(lab: Path) -> None:
    settings = {"hosts.h1.congestion_control": "./other.c", "hosts.h2.congestion_control": "reno"}
    assert [one.name for one in resolve_plan(parse_lab(lab), settings).algorithms] == ["other"]


def test_traffic_and_a_later_setting_may_name_a_file(lab: Path) -> None:
    text = (lab / "experiment.yml").read_text()
    text = text.replace("{congestion_control: ./mine.c}", "{congestion_control: reno}")
    text = text.replace("size: 1 MB}", "size: 1 MB, congestion_control: ./other.c}")
    later = "events: {later: {at: 1 ms, set: {hosts.h1.congestion_control: ./mine.c}}}\n"
    (lab / "experiment.yml").write_text(text + later)
    plan = resolve_plan(parse_lab(lab), {})
    assert [one.name for one in plan.algorithms] == ["mine", "other"]
    assert plan.traffic[0].carried_by.congestion_control == "other"


def test_wrong_files_are_named_with_their_line(lab: Path) -> None:
    said = mistakes(lab, "{congestion_control: ./mine.c}", "{congestion_control: ./min.c}")
    where = "lab/experiment.yml:4: hosts.default.congestion_control: './min.c'"
    assert said[0] == f"{where}: no such file; did you mean './mine.c'?"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("int x;\n", 'registers no congestion control; write a `struct tcp_congestion_ops` with `.name = "..."`, and'),
        (control(name="cubic"), "registers 'cubic', which the kernel already has; choose another name than bbr"),
        (control(name="my own"), "registers 'my own'; a name has 1 to 15 letters, digits, - or _"),
        (control(name="a" * 16), "a name has 1 to 15 letters"),
    ],
)
def test_what_a_file_must_register(lab: Path, source: str, said: str) -> None:
    (lab / "mine.c").write_text(source)
    assert said in mistakes(lab)[0]


def test_two_files_of_one_name_and_what_is_no_c_file(lab: Path) -> None:
    (lab / "other.c").write_text(CONTROL)
    text = "{congestion_control: ./mine.c}\n  h1: {congestion_control: ./other.c}"
    said = mistakes(lab, "{congestion_control: ./mine.c}", text)
    assert "'./other.c' registers 'mine', and so does './mine.c'; give one of them another name" in said[0]
    said = mistakes(lab, "./other.c}", "./lab/experiment.yml}")
    assert "'./lab/experiment.yml' is not a C file; write the name of one" in said[0]
    (lab / "other.c").write_bytes(b"\xff\xfe")
    assert "is not text in UTF-8" in mistakes(lab, "./lab/experiment.yml}", "other.c}")[0]


def test_of_several_structs_the_first_one_that_is_registered_counts() -> None:
    second = 'static struct tcp_congestion_ops spare = {\n\t.name = "spare",\n};\n'
    assert registered_name(second + CONTROL, "congestion_control") == "mine"
    assert registered_name(CONTROL.replace("(&mine)", "(&yours)"), "congestion_control") is None


def test_a_name_that_the_kernel_alone_knows(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_names, "_asked", [lambda: ("bbr3",)])
    assert resolve_plan(parse_lab(lab), {"control": "bbr3"}).nodes[0].transport is not None
    with pytest.raises(LabError, match=r"'bbr4' is unknown; did you mean 'bbr'\?"):
        parse_lab(lab).apply({"control": "bbr4"})


def test_the_kernel_says_what_it_has(artefacts: Artefacts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert {"reno", "cubic", "dctcp", "lia", "bbr"} <= set(kernel_congestion_controls())
    qdiscs = (artefacts.kernel.parent / "headers" / "qdiscs").read_text().split()
    assert {"switch_port", "codel", "bfifo", "red"} <= set(qdiscs)
    monkeypatch.setattr(modules, "locate_artefacts", lambda: {"kernel": tmp_path / "linux"})
    assert kernel_congestion_controls() == ()


@pytest.fixture
def compiler(artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler.of(artefacts)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


def complaints(compiler: Compiler, source: str) -> list[str]:
    with pytest.raises(CompileError) as caught:
        compiler.module(own(source), "lab/mine.c")
    assert not list((cache_root() / "modules").glob("*partial*"))
    return str(caught.value).splitlines()


def test_it_is_compiled_once(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiler.module(own(), "lab/mine.c")
    assert first.read_bytes().startswith(b"\x7fELF") and first.name == "own_mine.ko"
    monkeypatch.setattr(Compiler, "_make", None)
    assert compiler.module(own(), "elsewhere/mine.c") == first
    with pytest.raises(TypeError):
        compiler.module(own(control("tcp_slow_start(tcp_sk(sk), acked);")), "lab/mine.c")


def test_two_at_once_compile_it_once(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = Compiler._make

    def counted(self: Compiler, algorithm: OwnAlgorithm, shown_as: str, place: Path) -> None:
        made.append(algorithm.name)
        make(self, algorithm, shown_as, place)

    monkeypatch.setattr(Compiler, "_make", counted)
    threads = [threading.Thread(target=compiler.module, args=(own(), "lab/mine.c")) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["mine"]


def test_gccs_errors_have_the_line_of_the_users_file(compiler: Compiler) -> None:
    said = complaints(compiler, control("int x = 1", "y = 2;"))
    assert said[0].startswith(f"lab/mine.c:{AVOID_LINE + 1}: expected ")
    said = complaints(compiler, control(*(f"unknown_{number} = 1;" for number in range(20))))
    assert said[0].startswith(f"lab/mine.c:{AVOID_LINE}: 'unknown_0' undeclared") and len(said) == 9
    assert said[-1] == "lab/mine.c: and 12 more errors"


def test_an_error_that_gcc_finds_in_a_header_is_told_whole(compiler: Compiler) -> None:
    (said,) = complaints(compiler, "#define module_param(\n" + CONTROL)[:1]
    assert said.startswith("lab/mine.c")


def test_missing_symbols_have_a_line_too(compiler: Compiler) -> None:
    said = complaints(compiler, control("tcp_enter_memory_pressure(sk);", "tcp_fin(sk);"))
    (one,) = [line for line in said if "tcp_fin" in line]
    message = "the kernel has no `tcp_fin` for modules: it is declared, but not exported (EXPORT_SYMBOL)"
    assert one == f"lab/mine.c:{AVOID_LINE + 1}: {message}"
    assert line_of("/* f(); */\n// f\nint g;\nf();\n", "f") == 4
    assert line_of("int g;\n", "f") is None


def test_what_every_module_has(compiler: Compiler) -> None:
    said = complaints(compiler, CONTROL.replace("module_init(mine_register);", ""))
    assert said == ["lab/mine.c: module_init() is missing; write module_init(mine_register); at its end"]
    said = complaints(compiler, CONTROL.replace('MODULE_LICENSE("GPL");', ""))
    assert said == ['lab/mine.c: MODULE_LICENSE() is missing; write MODULE_LICENSE("GPL"); at its end']
    said = complaints(compiler, CONTROL.replace('"GPL"', '"Proprietary"'))
    assert any("may only be used by code under the GPL" in line for line in said)


def test_what_a_compiler_needs(artefacts: Artefacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Artefacts(tmp_path / "linux", artefacts.rootfs, artefacts.tools)
    with pytest.raises(EngineError, match="has no headers"):
        compile_modules(bare, [own()], tmp_path)
    assert compile_modules(bare, [], tmp_path) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="gcc, which compiles your own algorithms, is missing"):
        compile_modules(artefacts, [own()], tmp_path)


def test_where_the_cache_can_not_be(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(EngineError, match=r"lab/mine\.c can't be compiled in"):
        compiler.module(own(), "lab/mine.c")
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    with pytest.raises(EngineError, match="is not an absolute path"):
        compiler.module(own(), "lab/mine.c")


def plan_of(lab: Path) -> Plan:
    return resolve_plan(parse_lab(lab, every_point=False), {})


def test_a_run_directory_keeps_text_and_module(lab: Path, artefacts: Artefacts, tmp_path: Path) -> None:
    plan, run = plan_of(lab), tmp_path / "run"
    run.mkdir()
    write_inputs(plan, lab, run)
    keep_modules(plan, artefacts, lab, run)
    assert (run / "machine/modules/own_mine.c").read_text() == CONTROL
    assert (run / "machine/modules/own_mine.ko").stat().st_size > 4096


def test_containers_have_no_place_for_it(lab: Path, tmp_path: Path) -> None:
    containers = ContainerLab.__new__(ContainerLab)
    with pytest.raises(EngineError, match=r"^mine\.c: your own algorithm is compiled for the virtual machine"):
        check_engine(containers, [plan_of(lab)])


@pytest.mark.usefixtures("artefacts")
def test_check_and_run_tell_what_does_not_compile(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fabriclab.trust(lab)
    checked = fabriclab.check(lab)
    assert checked.warnings == ()
    (lab / "other.c").write_text(control("wrong;", name="other"))
    said = f"other.c:{AVOID_LINE}: 'wrong' undeclared"
    with pytest.raises(LabError, match=said):
        fabriclab.check(lab)
    with pytest.raises(LabError, match=said):
        fabriclab.run(lab, set={"control": "./other.c"}, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("fabriclab.api.own_algorithms.find_artefacts", lambda: _raise())
    (warning,) = fabriclab.check(lab).warnings
    assert warning == "your own algorithms were not compiled: not built yet"


def _raise() -> Artefacts:
    raise EngineError("not built yet")


def test_a_lab_that_is_up_takes_no_other_algorithm(lab: Path) -> None:
    begun = plan_of(lab)
    _refuse_not_loaded(begun, begun)
    _refuse_not_loaded(resolve_plan(parse_lab(lab), {"control": "reno"}), begun)
    with pytest.raises(
        Refused, match=r"^other\.c: your own algorithms are loaded when the virtual machine starts; bring"
    ):
        _refuse_not_loaded(resolve_plan(parse_lab(lab), {"control": "./other.c"}), begun)
