"""The JSON and the tables of a run directory from elsewhere: whatever is damaged is one error that names the file."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from strangers import give_nics
from synthetic_run import incast_run, incast_sweep
from typer.testing import CliRunner

import fabriclab
from fabriclab.api.bundles import Bundle, reproduce
from fabriclab.cli.app import app
from fabriclab.formats.json_text import DEEPEST, JsonError, parse_json
from fabriclab.results import ResultsError, read_run
from fabriclab.run_bundles.bundle import About


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = incast_run(tmp_path_factory.mktemp("run") / "run", 2, rounds=2)
    read_run(run)
    return run


@pytest.fixture
def run(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "run"))


def told(run: Path, command: str = "report", *arguments: str) -> str:
    result = CliRunner().invoke(app, [command, str(run), *arguments])
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result.output


DAMAGED = {
    "deep": "[" * 100_000,
    "nested": '{"format": ' + '{"a":' * 200 + "1" + "}" * 201,
    "digits": '{"format": ' + "9" * 5000 + "}",
    "cut": '{"format": "fab',
    "empty": "",
    "null": "null",
    "list": "[1, 2]",
    "text": '"a"',
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("name", ["manifest.json", "plan.json", "summary.json"])
def test_a_file_that_is_no_json_of_ours(name: str, text: str, run: Path) -> None:
    (run / name).write_text(text)
    assert f"{run}/{name}" in told(run)


@pytest.mark.parametrize("name", ["manifest.json", "plan.json", "summary.json"])
def test_a_file_that_is_no_text(name: str, run: Path) -> None:
    (run / name).write_bytes(b"\xff\xfe\x00")
    assert f"{run}/{name}" in told(run)


def with_key(path: Path, key: str, value: Any) -> None:
    data = json.loads(path.read_text())
    holder = data
    *outer, last = key.split(".")
    for one in outer:
        holder = holder[one]
    holder[last] = value
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("summary.json", "metrics", 5),
        ("summary.json", "notes", None),
        ("summary.json", "notes", [5]),
        ("summary.json", "metrics", {"goodput_bps": "fast"}),
        ("summary.json", "metrics", {"goodput_bps": 10**30}),
        ("manifest.json", "settings", []),
        ("manifest.json", "seed", "one"),
        ("manifest.json", "virtual_s", "long"),
        ("manifest.json", "report", {"figures": 5}),
        ("manifest.json", "report", {"figures": [5]}),
        ("manifest.json", "report", {"figures": [{"kind": []}]}),
        ("manifest.json", "report", {"figures": [{"kind": "queue", "port": 5}]}),
        ("plan.json", "traffic", [{}]),
        ("plan.json", "nodes", {"h1": {}}),
    ],
)
def test_a_value_of_another_type_is_named(file: str, key: str, value: Any, run: Path) -> None:
    with_key(run / file, key, value)
    said = told(run)
    assert f"{run}/{file}" in said and key in said


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop("status"),
        lambda table: table.with_columns(pl.col("fct_ns").cast(pl.String)),
        lambda table: table.with_columns(pl.lit([1]).alias("size_bytes")),
        lambda table: table.rename({"flow": "x"}),
    ],
)
def test_a_table_with_other_columns_is_told_with_its_directory(change: Any, run: Path) -> None:
    table = pl.read_parquet(run / "flows.parquet")
    change(table).write_parquet(run / "flows.parquet")
    try:
        fabriclab.write_report([run], run / "page.html")
    except ResultsError as error:
        assert str(run) in str(error)


def test_a_table_whose_bytes_were_changed_is_told(run: Path) -> None:
    data = bytearray((run / "flows.parquet").read_bytes())
    for at in range(4, len(data) - 8, 3):
        data[at] ^= 0xFF
    (run / "flows.parquet").write_bytes(data)
    assert str(run) in told(run)


def test_a_sweep_names_no_run_elsewhere(tmp_path: Path) -> None:
    sweep = incast_sweep(tmp_path / "sweep", senders=(1,), variants=("cubic",))
    outside = tmp_path / "outside"
    shutil.copytree(next((sweep / "points").iterdir()), outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    for where in ("../outside", str(outside), "points/../../outside"):
        data = json.loads((sweep / "sweep.json").read_text())
        data["points"][0]["run"] = where
        (sweep / "sweep.json").write_text(json.dumps(data))
        said = told(sweep)
        assert re.search(r"sweep\.json: points\.0\.run: ", said)
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def test_json_is_bounded() -> None:
    assert parse_json("[" * DEEPEST + "]" * DEEPEST)
    for text in ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "[" * 10**6, "1" * 41, b"\xff", "{", "\ud800"):
        with pytest.raises(JsonError) as caught:
            parse_json(text)
        assert "\n" not in str(caught.value)


def test_a_strangers_plan_is_refused_before_anything_is_written(run: Path, tmp_path: Path) -> None:
    """Each is what a lab could not be: work, a name twice, a link without an end."""
    plan = json.loads((run / "plan.json").read_text())
    give_nics(plan)
    opened = Bundle(About("run", "", "", 1, "", {}, {}, "vm"), tmp_path, fabriclab.open_run(run))
    flows = {"kind": "flows", "name": "x", "senders": ["h1"] * 20, "receiver": "h2", "size_bytes": 1000, "count": 10**6}
    flows |= {"start_ns": 0, "interval_ns": 1, "mode": "push"}
    for key, value, message in (
        ("traffic", [*plan["traffic"], flows], "an experiment has at most 10000000"),
        ("nodes", [*plan["nodes"], plan["nodes"][0]], "occurs twice"),
        ("nodes", plan["nodes"][1:], "does not lead back"),
    ):
        (run / "plan.json").write_text(json.dumps(plan | {key: value}))
        with pytest.raises(ResultsError, match=message):
            reproduce(opened, out=tmp_path / "again")
        assert not (tmp_path / "again").exists()


def test_a_title_is_no_markup_of_the_page(run: Path) -> None:
    script = "<script>alert(1)</script>"
    for file in ("plan.json", "manifest.json"):
        with_key(run / file, "title", script)
    with_key(run / "plan.json", "warnings", [script])
    page = fabriclab.write_report([run], run / "page.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert script not in page
