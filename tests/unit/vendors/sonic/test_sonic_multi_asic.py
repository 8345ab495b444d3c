"""A switch of several ASICs has a file for each: it is told in words that a lab's switch has one."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sonic_scale import leaf_spine
from typer.testing import CliRunner

from fabriclab.cli.app import app

RUNNER = CliRunner()


def files(directory: Path, *asics: str) -> list[str]:
    """Write a leaf's file for each ASIC, all of one hostname."""
    found = []
    for asic in asics:
        tables = leaf_spine(1, 1)["leaf1"]
        tables["DEVICE_METADATA"]["localhost"] |= {"asic_name": asic, "sub_role": "FrontEnd"}
        directory.mkdir(exist_ok=True)
        found.append(str(directory / f"config_{asic}.json"))
        Path(found[-1]).write_text(json.dumps(tables, indent=1), encoding="utf-8")
    return found


def test_one_asic_is_not_judged(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["sonic", "check", *files(tmp_path, "asic0")])
    text = re.sub(r"\s+", " ", result.output)
    assert "DEVICE_METADATA|localhost|sub_role FrontEnd" in text
    assert "one ASIC of several in a switch; a lab's switch has one" in text


def test_two_asics_of_one_switch_are_named_as_such(tmp_path: Path) -> None:
    two = files(tmp_path, "asic0", "asic1")
    for command in (["sonic", "check", *two], ["sonic", "import", *two, "-o", str(tmp_path / "lab")]):
        result = RUNNER.invoke(app, command)
        text = re.sub(r"\s+", " ", result.output)
        assert result.exit_code != 0
        assert "asic0, asic1 of one switch, and a lab's switches have one ASIC each" in text
        assert "give one of the files" in text and "give each its own hostname" not in text


def test_two_switches_of_one_name_are_told_as_before(tmp_path: Path) -> None:
    one = Path(files(tmp_path, "asic0")[0])
    (tmp_path / "other.json").write_text(one.read_text())
    result = RUNNER.invoke(
        app, ["sonic", "import", str(one), str(tmp_path / "other.json"), "-o", str(tmp_path / "lab")]
    )
    assert "give each its own hostname" in re.sub(r"\s+", " ", result.output)
