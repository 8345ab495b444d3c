"""Where a user's algorithm crashed, and whether it comes to an end: out of the kernel's words and memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_labs import own

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.modules import compile_modules
from fabriclab.engine.own_faults import OwnModules, Standstill
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.virtual_clock import VirtualClock

BEGIN = 0x64A00000


@pytest.fixture
def loaded(artefacts: Artefacts, tmp_path: Path) -> OwnModules:
    place = tmp_path / "machine" / "modules"
    place.mkdir(parents=True)
    ((name, module),) = compile_modules(artefacts, [own()], tmp_path).items()
    (place / f"{name}.ko").write_bytes(module.read_bytes())
    modules = OwnModules(tmp_path, {name: "mine.c"})
    modules.loaded(name, f"{BEGIN:016x}")
    return modules


def test_the_instruction_comes_before_its_callers(loaded: OwnModules) -> None:
    assert loaded.are_loaded and loaded.names == "mine.c"
    place = ("mine.c", "mine_cong_avoid() at line 8")
    assert loaded.place([f"Kernel panic - not syncing: Segfault with no mm at addr 0x8, ip 0x{BEGIN:x}"]) == place
    assert loaded.place(["Call Trace:", " [<603d45bf>] ? 0x603d45bf", f" [<{BEGIN + 1:x}>] ? 0x{BEGIN + 1:x}"]) == place


def test_what_is_elsewhere_has_no_place(loaded: OwnModules, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded.place(["panic at ip 0x600206a2", "[<603d45bf>]"]) is None
    assert loaded.place([f"ip 0x{BEGIN + 4000:x}"]) is None
    monkeypatch.setenv("PATH", "/nonexistent")
    assert loaded.place([f"ip 0x{BEGIN:x}"]) is None


def still(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, times: list[tuple[float, int | None]]) -> Standstill:
    """Return one that looks at a machine whose CPU time and clock are these, one after the other."""
    process = MachineProcess.__new__(MachineProcess)
    clock = VirtualClock(process, tmp_path)
    monkeypatch.setattr(process, "cpu_s", lambda: times[0][0], raising=False)
    monkeypatch.setattr(clock, "now_ns", lambda: times.pop(0)[1])
    return Standstill(process, clock)


def test_who_computes_at_one_instant_stands_still(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    times: list[tuple[float, int | None]] = [(1.0, 10), (10.0, 10), (11.5, 11), (11.6, 30_000), (21.5, 30_000)]
    looks = still(monkeypatch, tmp_path, [*times, (21.7, 30_001), (21.8, 600_000_000)])
    assert [looks.is_reached(speaks=False) for _ in range(7)] == [False, False, True, False, False, True, False]


def test_who_ought_to_have_spoken_does_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looks = still(monkeypatch, tmp_path, [(1.0, 10), (11.5, 600_000_000), (11.6, 600_000_000), (11.7, None)])
    assert [looks.is_reached(speaks=True) for _ in range(2)] == [False, True]
    looks.moved()
    assert [looks.is_reached(speaks=True) for _ in range(2)] == [False, False]


def test_a_kernel_without_symbols_is_not_watched(tmp_path: Path) -> None:
    process = MachineProcess(tmp_path)
    with process:
        (tmp_path / "linux").write_text("no program")
        assert not Standstill(process, VirtualClock(process, tmp_path / "linux")).is_reached(speaks=True)
        assert process.cpu_s() == 0
        process.ask_where()


def test_a_process_is_asked(tmp_path: Path) -> None:
    with MachineProcess(tmp_path) as process:
        process.start(["sleep", "60"])
        assert process.cpu_s() < 1 and process.word_at(0) is None
        process.ask_where()
        process.wait(10)
        assert (process.exit_status() or "").startswith("signal 5")
        assert process.cpu_s() < 1
