"""Real orchagent beside our reading.

`tests/golden/sonic-oracle/leaf1.asic.json` is what orchagent and buffermgrd of SONiC 202511, with syncd and vslib, made
of the leaf of the lab sonic-leaf-spine (2026-11-23): ASIC_DB, the kinds of objects that are compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.lab import LabError
from fabriclab.vendors.sonic.oracle import compared, read_asic_db
from fabriclab.vendors.sonic.read import parse_config_db

LEAF = ROOT / "labs" / "sonic-leaf-spine" / "leaf1.json"
ASIC = ROOT / "tests" / "golden" / "sonic-oracle" / "leaf1.asic.json"


def oracle(*words: object) -> Result:
    return CliRunner().invoke(app, ["sonic", "oracle", *map(str, words)])


def changed(tmp_path: Path, table: str, key: str, **fields: str) -> Path:
    tables = json.loads(LEAF.read_text())
    tables[table][key] |= fields
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(tables))
    return path


def test_orchagent_made_what_the_file_says() -> None:
    done = oracle(LEAF, "--asic-db", ASIC)
    assert done.exit_code == 0, done.output
    counts = dict(line.rsplit(maxsplit=3)[0::3] for line in done.stdout.splitlines()[1:])
    assert {kind.strip(): int(count) for kind, count in counts.items()} == {
        "pool": 3,
        "profile": 4,
        "group's profile": 32,
        "queue's profile": 32,
        "queue's WRED": 8,
        "WRED": 1,
        "scheduler": 2,
        "port": 4,
    }


@pytest.mark.parametrize(
    ("table", "key", "fields", "said"),
    [
        (
            "BUFFER_POOL",
            "egress",
            {"size": "24709633"},
            ["pool: kind egress", "size 24709633", "size 24709632"],
        ),
        ("WRED_PROFILE", "WRED", {"green_min_threshold": "900001"}, ["least 900001", "least 900000"]),
        ("WRED_PROFILE", "WRED", {"ecn": "ecn_none"}, ["ecn ecn_none", "ecn ecn_all"]),
        ("SCHEDULER", "scheduler.1", {"weight": "16"}, ["weight 16", "weight 15"]),
        ("PORT", "Ethernet0", {"mtu": "1500"}, ["port: ", "mtu 1500", "mtu 9100"]),
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_enable": "3"}, ["pfc [3]", "pfc [3, 4]"]),
        ("DSCP_TO_TC_MAP", "AZURE", {"46": "6"}, ["(46, 6)", "(46, 5)", "port"]),
    ],
)
def test_what_differs_is_told_with_both_values(
    table: str, key: str, fields: dict[str, str], said: list[str], tmp_path: Path
) -> None:
    done = oracle(changed(tmp_path, table, key, **fields), "--asic-db", ASIC)
    assert done.exit_code == 1
    for words in said:
        assert words in done.stdout


def test_json_has_both_sides(tmp_path: Path) -> None:
    done = oracle(changed(tmp_path, "SCHEDULER", "scheduler.1", weight="16"), "--asic-db", ASIC, "--format", "json")
    (document,) = json.loads(done.stdout)["files"]
    (one,) = document["differences"]
    assert (one["file"]["weight"], one["asic_db"]["weight"]) == ("16", "15")
    assert document["compared"]["scheduler"] - document["equal"]["scheduler"] == 2


def test_what_only_one_side_has_is_told(tmp_path: Path) -> None:
    tables = json.loads(LEAF.read_text())
    del tables["BUFFER_PG"]["Ethernet0|3-4"]
    tables["SCHEDULER"]["spare"] = {"type": "STRICT"}
    (tmp_path / "c.json").write_text(json.dumps(tables))
    done = oracle(tmp_path / "c.json", "--asic-db", ASIC)
    assert "group's profile, 2 times: only in ASIC_DB" in done.stdout
    assert "buffermgrd makes it for a port with PFC" in done.stdout
    assert "scheduler: not in ASIC_DB: kind STRICT" in done.stdout


def dump() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ASIC.read_text())
    return found


def test_a_dump_of_sonic_db_dump_is_the_same() -> None:
    wrapped = {key: {"type": "hash", "ttl": -1, "value": value} for key, value in dump().items()}
    config = parse_config_db(LEAF.read_bytes(), "leaf1.json")
    assert compared(config, read_asic_db(json.dumps(wrapped).encode(), "a.json")).differences == ()


def test_names_are_as_sairedis_escapes_them() -> None:
    """A port between the chips of a switch is `Ethernet-BP0`."""
    text = ASIC.read_text()
    assert '"SAI_HOSTIF_ATTR_NAME":"Ethernet8"' in "".join(text.split())
    escaped = text.replace('"Ethernet8"', json.dumps("Ethernet\\x2DBP8"))
    assert "Ethernet-BP8" in read_asic_db(escaped.encode(), "a.json").ports()


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"no", "is not JSON"), (b"{}", "is not an ASIC_DB of a switch"), (b"[]", "is not an ASIC_DB of a switch")],
)
def test_what_is_no_dump_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(LabError, match=message):
        read_asic_db(data, "asic.json")
