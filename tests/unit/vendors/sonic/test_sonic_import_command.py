"""`fabriclab sonic import` of one file: what it writes, and what it says of what is wrong."""

from __future__ import annotations

from pathlib import Path

from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app

GOLDEN = ROOT / "tests" / "golden" / "sonic"


def test_the_command_writes_a_lab_that_checks(tmp_path: Path) -> None:
    runner = CliRunner()
    result = runner.invoke(
        app,
        [
            "sonic",
            "import",
            str(GOLDEN / "trident-3.json"),
            "--name",
            "leaf1",
            "-o",
            str(tmp_path / "lab"),
            "--cell",
            "256 B",
        ],
    )
    assert result.exit_code == 0, result.output
    assert "leaf1 with 4 ports" in result.output
    assert "NTP_SERVER (1 entry): management of the switch" in result.output
    assert "cell: 256 B" in (tmp_path / "lab" / "leaf1.yml").read_text()
    assert runner.invoke(app, ["check", str(tmp_path / "lab")]).exit_code == 0
    again = runner.invoke(
        app, ["sonic", "import", str(GOLDEN / "trident-3.json"), "--name", "leaf1", "-o", str(tmp_path / "lab")]
    )
    assert (again.exit_code, "already exists; --force replaces it" in again.output) == (2, True)


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text('{"PORT": {"Ethernet0": {"speed": "fast"}}}', encoding="utf-8")
    result = CliRunner().invoke(app, ["sonic", "import", str(file), "-o", str(tmp_path / "lab")])
    assert (result.exit_code, "PORT|Ethernet0|speed: 'fast'" in result.output) == (2, True)
    named = CliRunner().invoke(
        app, ["sonic", "import", str(GOLDEN / "trident-3.json"), "--name", "le af/1", "-o", str(tmp_path / "lab")]
    )
    assert (named.exit_code, "--name 'le af/1': is not a name" in named.output) == (2, True)
    assert not (tmp_path / "lab").exists()
