"""`fabriclab import frr`, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

GOLDEN = ROOT / "tests" / "golden" / "frr"
RUNNER = CliRunner()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["import", "frr", *map(str, arguments)])
    return result.exit_code, result.output


def bad_input(*arguments: str | Path, out: Path) -> str:
    """Return what the command says of bad input, which leaves nothing behind."""
    status, output = run(*arguments, "-o", out)
    assert status == 2, output
    assert not out.exists()
    return output


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "new" / "mine"
    status, output = run(GOLDEN / "unnumbered" / "given", "-o", out)
    assert status == 0, output
    assert f"{out}: 4 routers, 4 links between them, 2 hosts" in output
    assert "links found by descriptions (4); topology.clab.yml says it for each link" in output
    assert (
        "leaf01: management interfaces, left out: eth0" in output
        and "commands that were kept but not read: " in output
        and "route-map (4)" in output
    )
    assert {path.name for path in out.iterdir()} == {
        *("daemons", "experiment.yml", "topology.clab.yml"),
        *(f"{name}.frr.conf" for name in ("leaf01", "leaf02", "spine01", "spine02")),
    }
    assert RUNNER.invoke(app, ["check", str(out)]).exit_code == 0
    status, output = run(GOLDEN / "unnumbered" / "given", "-o", out)
    assert status == 2 and "already exists; --force replaces it" in output
    arguments = ("--force", "--name", "other", "--rate", "25 Gbps", "--delay", "1 us")
    assert run(GOLDEN / "unnumbered" / "given", "-o", out, *arguments)[0] == 0
    plan = resolve_plan(parse_lab(out), {})
    assert plan.lab == "other"
    assert {(port.rate_bps, port.delay_ns) for node in plan.nodes for port in node.ports} == {
        (25 * 10**9, 1000),
        (40 * 10**9, 1000),
    }


def test_files_in_the_place_of_a_directory(tmp_path: Path) -> None:
    folders = sorted((GOLDEN / "reflector" / "given").iterdir())
    status, output = run(*(folder / "frr.conf" for folder in folders), "-o", tmp_path / "mine")
    assert status == 0 and "3 routers, 2 links between them, 3 hosts" in output
    assert "links found by networks (2)" in output and "'frobnicate the network' is not a command known here" in output


def test_links_of_a_file(tmp_path: Path) -> None:
    for name in ("r1", "r2"):
        text = f"hostname {name}\ninterface eth1\n ip ospf area 0\ninterface eth2\n ip ospf area 0\nrouter ospf\n"
        (tmp_path / f"{name}.cfg").write_text(text)
    out = tmp_path / "mine"
    assert "no link to r1 was found" in bad_input(tmp_path, out=out)
    cables = tmp_path / "cables"
    cables.write_text("r1:eth1 r2:eth2\n")
    status, output = run(tmp_path, "-o", out, "--links", cables)
    assert status == 0 and "links found by cables (1), being the only two left (1)" in output
    cables.write_text("r1:eth1 r2\n")
    assert "cables:1: r2: 'r2' is not an end of a link; write leaf1:swp1" in bad_input(
        tmp_path, "--links", cables, out=tmp_path / "other"
    )
    assert "nowhere: no such file" in bad_input(tmp_path, "--links", tmp_path / "nowhere", out=tmp_path / "other")


def test_bad_input(tmp_path: Path) -> None:
    out, given = tmp_path / "out", GOLDEN / "segment" / "given"
    assert "no such file or directory" in bad_input(tmp_path / "configs", out=out)
    assert "--name 'a lab': is not a name" in bad_input(given, "--name", "a lab", out=out)
    assert "--rate: " in bad_input(given, "--rate", "10", out=out)
    assert "--delay: " in bad_input(given, "--delay", "soon", out=out)
    (tmp_path / "empty").mkdir()
    assert "no router's configuration" in bad_input(tmp_path / "empty", out=out)


def test_an_interrupted_command_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []
    original = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(target)
        return original(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    status, output = run(GOLDEN / "segment" / "given", "-o", tmp_path / "out")
    assert status == 130 and "interrupted" in output
    assert not (tmp_path / "out").exists()


def test_the_vendors_of_import() -> None:
    """What `fabriclab VENDOR import` does, `fabriclab import VENDOR` does too."""
    output = RUNNER.invoke(app, ["import", "--help"]).output
    assert all(f"{vendor}  " in output for vendor in ("sonic", "arista", "frr"))
    assert "config_db.json" in RUNNER.invoke(app, ["import", "sonic", "--help"]).output
