"""What of a plan not every kernel has is told before anything is started."""

from __future__ import annotations

from pathlib import Path

import fake_machine
import pytest
from sample_plans import CUBIC, star

from fabriclab.api.engine import fit_machine
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.kernel_needs import check_kernel
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.qdiscs.dualpi2 import DualPi2

DUALPI2 = star(2, queue=Queue(limit_bytes=100_000, aqm=DualPi2()))
ACCURATE = star(2, transport=CUBIC.model_copy(update={"ecn": "accurate"}))


def kernel_of(directory: Path, version: str, qdiscs: str = "", tcp_ecn: str = "") -> Artefacts:
    """Return artefacts whose kernel says what it has."""
    artefacts = fake_machine.artefacts(directory, "")
    place = artefacts.kernel.parent
    net = place / "headers" / "source" / "include" / "net"
    net.mkdir(parents=True)
    (place / "version").write_text(f"Package: linux-source\nVersion: {version}\nCompiler: gcc 14\n")
    (place / "headers" / "qdiscs").write_text(qdiscs)
    if tcp_ecn:
        (net / "tcp_ecn.h").write_text(tcp_ecn)
    return artefacts


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (
            DUALPI2,
            "s1: aqm kind dualpi2 needs Linux 6.17 or later; the virtual machine's kernel is Linux 6.12.117-1. Build",
        ),
        (
            ACCURATE,
            "h1: ecn: accurate needs Linux 7.0 or later; the virtual machine's kernel is Linux 6.12.117-1. Build one",
        ),
    ],
    ids=["dualpi2", "accurate"],
)
def test_an_older_kernel_is_named_with_the_line_that_builds_a_newer_one(
    tmp_path: Path, plan: Plan, sentence: str
) -> None:
    older = kernel_of(tmp_path, "6.12.117-1", "codel\npie\n")
    with pytest.raises(EngineError) as raised:
        check_kernel(older, [star(2), plan])
    assert str(raised.value).startswith(sentence)
    assert "export KERNEL_SERIES=7.3; " in str(raised.value)
    check_kernel(older, [star(2)])


def test_a_kernel_that_has_it_all_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = kernel_of(tmp_path, "7.3.4", "dualpi2\npie\n", "enum { TCP_ECN_IN_ACCECN_OUT_ACCECN = 3 };")
    monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: newer)
    assert fit_machine([DUALPI2, ACCURATE]) == newer


def test_a_kernel_that_says_nothing_of_itself_is_of_an_unknown_version(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the virtual machine's kernel is of an unknown version"):
        check_kernel(fake_machine.artefacts(tmp_path, ""), [ACCURATE])


def test_a_wheel_has_no_script_that_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.engine.kernel_needs.is_installed", lambda: True)
    with pytest.raises(EngineError, match="A wheel has only one kernel; a checkout can build others"):
        check_kernel(kernel_of(tmp_path, "6.12.117-1"), [DUALPI2])
