"""Binds that lie in one another: a file in a bound directory takes the place of the directory's; a file holds none."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import check, plan
from fabriclab.formats.plan import PlanError, runnable
from fabriclab.lab import LabError

TOPOLOGY = """name: nested
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    h1:
      exec: [ip addr add 10.0.0.1/24 dev eth1]
      binds: BINDS
    h2: {exec: [ip addr add 10.0.0.2/24 dev eth1]}
  links:
    - endpoints: ['h1:eth1', 'h2:eth1']
"""


def write(directory: Path, binds: list[str]) -> Path:
    (directory / "conf").mkdir()
    (directory / "conf" / "daemons").write_text("bgpd=no\n")
    (directory / "daemons").write_text("bgpd=yes\n")
    file = directory / "nested.clab.yml"
    file.write_text(TOPOLOGY.replace("BINDS", str(binds)))
    return file


def test_a_file_below_a_file_is_a_mistake_for_check_too(tmp_path: Path) -> None:
    """Before: check was OK, and run ended with 2 and the name of a directory of its own."""
    with pytest.raises(LabError) as raised:
        check(write(tmp_path, ["daemons:/etc/x", "daemons:/etc/x/y"]))
    assert str(raised.value).replace(f"{tmp_path}/", "") == (
        "nested.clab.yml:7: topology.nodes.h1.binds[1]: /etc/x/y lies below /etc/x, which line 7 makes a file; bind "
        "one of them elsewhere"
    )


def test_a_file_in_the_place_of_everything_is_a_mistake_for_check_too(tmp_path: Path) -> None:
    """Before: only run looked at the path, in a plan that nobody wrote."""
    with pytest.raises(LabError, match=r"nested\.clab\.yml:7: topology\.nodes\.h1\.binds\[0\]: '/' is not an absolute"):
        check(write(tmp_path, ["daemons:/"]))


def test_check_asks_of_the_plan_what_run_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable, "_contradictions", lambda _: iter(["nodes.h1: is wrong"]))
    with pytest.raises(PlanError, match=r"nodes\.h1: is wrong"):
        check(write(tmp_path, ["daemons:/x"]))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_file_takes_the_place_of_the_directorys(tmp_path: Path, is_first: bool) -> None:
    """As mounts do, whose order is that of their paths."""
    binds = ["conf:/etc/frr", "daemons:/etc/frr/daemons"]
    setup = plan(write(tmp_path, binds if is_first else binds[::-1])).node("h1").setup
    assert setup is not None
    assert [(file.path, file.text) for file in setup.files] == [("/etc/frr/daemons", "bgpd=yes\n")]
    assert "bgpd" in [daemon.name for daemon in setup.daemons]
