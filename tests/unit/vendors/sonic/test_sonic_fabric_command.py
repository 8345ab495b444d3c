"""`fabriclab sonic import` of several files, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sonic_fabrics import pair, write
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

RUNNER = CliRunner()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["sonic", "import", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_command(tmp_path: Path) -> None:
    paths = write(pair(), tmp_path)
    out = tmp_path / "new" / "mine"
    status, output = run(*paths, "-o", out)
    assert status == 0, output
    assert f"{out}: 2 switches, 1 links between them, 2 hosts" in output and "DEVICE_NEIGHBOR (1)" in output
    assert sorted(path.name for path in out.iterdir()) == ["a.json", "b.json", "experiment.yml", "topology.clab.yml"]
    assert [(out / path.name).read_bytes() for path in paths] == [path.read_bytes() for path in paths]
    assert RUNNER.invoke(app, ["check", str(out)]).exit_code == 0
    status, output = run(*paths, "-o", out)
    assert status == 2 and "already exists; --force replaces it" in output
    assert run(*paths, "-o", out, "--force", "--cell", "208 B", "--name", "other")[0] == 0
    plan = resolve_plan(parse_lab(out), {})
    assert plan.lab == "other" and {node.switch.cell_bytes for node in plan.nodes if node.switch} == {208}


def bad_input(*arguments: str | Path, out: Path) -> str:
    """Return what the command says of bad input, which leaves nothing behind."""
    before = sorted(out.parent.rglob("*"))
    status, output = run(*arguments, "-o", out)
    assert status == 2
    assert sorted(out.parent.rglob("*")) == before
    return output


def test_bad_input(tmp_path: Path) -> None:
    paths = write(pair(), tmp_path)
    out = tmp_path / "out"
    assert "no such file" in bad_input(*paths, tmp_path / "c.json", out=out)
    assert f"the same file as {paths[0]}; give each switch's file once" in bad_input(*paths, paths[0], out=out)
    (tmp_path / "empty").mkdir()
    assert "a directory without config_db.json" in bad_input(paths[0], tmp_path / "empty", out=out)
    (tmp_path / "c.json").write_text("{ports")
    (tmp_path / "d.json").write_text('{"PORT": {"Ethernet0": {"speed": "fast"}}}')
    output = bad_input(*paths, tmp_path / "c.json", tmp_path / "d.json", out=out)
    assert "c.json:1: is not JSON" in output and "d.json:1: PORT|Ethernet0|speed: 'fast'" in output
    assert "is not a name" in bad_input(*paths, "--name", "a lab", out=out)
    assert "--cell: " in bad_input(*paths, "--cell", "8", out=out)
    assert "--missing: it needs several files" in bad_input(paths[0], "--missing", "error", out=out)
    assert "is a file; give a directory" in bad_input(*paths, out=paths[0])


def test_what_only_the_lab_finds_names_the_file_that_was_given(tmp_path: Path) -> None:
    files = pair({"INTERFACE": {"Ethernet0|10.0.0.4/32": {}}})
    output = bad_input(*write(files, tmp_path), out=tmp_path / "out")
    assert str(tmp_path / "a.json") in output and "/tmp/tmp" not in output.replace(str(tmp_path), "")


def test_an_interrupted_command_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(pair(), tmp_path)
    written: list[Path] = []
    original = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(target)
        return original(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    status, output = run(*paths, "-o", tmp_path / "new" / "out")
    assert (status, "interrupted" in output, len(written)) == (130, True, 2)
    assert sorted(tmp_path.iterdir()) == paths
