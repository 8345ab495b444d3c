"""`fabriclab sonic check`: every rule with a file that breaks it, with files that look as if they did, and on files of
real platforms.

`FABRICLAB_ACCEPT=1 pytest tests/unit/vendors/sonic/test_sonic_check.py` writes what is expected of the traps as it is
now; read the difference.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import ROOT
from sonic_traps import DIRECTORY, FINE, SOUND, TRAPS, fine, patched, sound, text_of, trap

from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.switch.findings import SwitchRule
from fabriclab.vendors.sonic.commands.findings_text import as_text
from fabriclab.vendors.sonic.judge import RULES, Judgement, judge_config_db
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.rules import FABRIC_RULES
from fabriclab.vendors.sonic.judge.switch import SwitchBuilder
from fabriclab.vendors.sonic.judge.switch_rules import NOT_OF_FILES
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db
from fabriclab.vendors.sonic.read.chips import UNKNOWN

PLATFORMS = ROOT / "tests" / "golden" / "sonic"
ALSO = {
    # Traps that are several things at once.
    "account-below-frame": {"wred-unreachable"},
    "ecn-without-green": {"wred-drops-lossless"},
    "queue-without-profile": {"one-port-differs"},
    "range-overlap": {"one-port-differs"},
    "rate-unit": {"cir-above-line"},
}
Tables = dict[str, Any]


def judge(tables: Tables, cell_bytes: int = 1) -> Judgement:
    return judge_config_db(text_of(tables).encode(), "config_db.json", cell_bytes)


def rules_of(tables: Tables) -> set[str]:
    return {finding.rule for finding in judge(tables).findings}


def test_busy_ports_are_those_that_are_up() -> None:
    """Queues of ports that are down hold nothing, so that a threshold within reach of two busy
    ports is within reach."""
    tables = trap("wred-unreachable-when-busy")
    assert "wred-unreachable-when-busy" in rules_of(tables)
    names = list(tables["PORT"])
    down = {
        name: {**fields, "admin_status": "up" if name == names[0] else "down"}
        for name, fields in tables["PORT"].items()
    }
    judgement = judge({**tables, "PORT": down})
    assert "wred-unreachable-when-busy" not in {finding.rule for finding in judgement.findings}
    assert judgement.ports == 1


def test_every_rule_has_a_trap() -> None:
    """Those of a fabric need several files (test_sonic_fabric_rules.py)."""
    assert set(TRAPS) == set(RULES) - {"yang"} - FABRIC_RULES


def test_every_finding_of_a_plan_has_a_rule() -> None:
    """mypy holds what the checks of a plan emit against `SwitchRule`; none of these may be without words here."""
    assert set(get_args(SwitchRule)) - set(RULES) == NOT_OF_FILES - {"reserved-above-pool"}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert judge_config_db(SOUND.read_bytes(), "sound.json") == Judgement("sound.json", (), 5, chip=UNKNOWN.verdict)


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_found_and_told(name: str) -> None:
    judgement = judge(trap(name))
    assert {finding.rule for finding in judgement.findings} == {name} | ALSO.get(name, set())
    expected = DIRECTORY / "traps" / f"{name}.expected"
    if os.environ.get("FABRICLAB_ACCEPT"):
        expected.write_text(as_text([judgement]), encoding="utf-8")
    assert as_text([judgement]) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TRAPS)
def test_a_finding_names_a_line_of_the_file(name: str) -> None:
    lines = text_of(trap(name)).splitlines()
    for finding in judge(trap(name)).findings:
        assert finding.line is not None
        # What is not there is told at what is above it.
        assert any(f'"{word}"' in lines[finding.line - 1] for word in finding.path)


@pytest.mark.parametrize("name", FINE)
def test_what_only_looks_wrong_is_left_alone(name: str) -> None:
    assert judge(fine(name)).findings == ()


def test_static_th_on_a_dynamic_pool_is_how_shipped_templates_say_no_limit() -> None:
    """Arista 7050CX3, ingress_lossy_profile: static_th as large as its pool."""
    profile = sound()["BUFFER_PROFILE"]["ingress_lossy_profile"]
    assert profile["static_th"] == sound()["BUFFER_POOL"][profile["pool"]]["size"]
    assert sound()["BUFFER_POOL"][profile["pool"]]["mode"] == "dynamic"


@pytest.mark.parametrize("platform", ["trident-2", "trident-3", "jericho-2", "export-trident-3", "export-jericho-2"])
def test_files_of_platforms_have_no_errors(platform: str) -> None:
    """Trident 2's shipped lossless thresholds (alpha 1/8) are below its ECN threshold of 1 MiB as soon
    as four ports are busy. Jericho 2's headroom is for frames that fill its cells of 256 B. Labs have cables of 0 m,
    and these two no ECN."""
    found = judge_config_db((PLATFORMS / f"{platform}.json").read_bytes(), platform).findings
    known = {"trident-2": ["wred-above-xoff"], "jericho-2": ["headroom-for-full-frames"]}
    known |= {key: ["cable-length-missing", "pfc-without-ecn"] for key in ("export-trident-3", "export-jericho-2")}
    assert [finding.rule for finding in found] == known.get(platform, [])


@pytest.mark.parametrize("platform", ["trident-2", "trident-3", "jericho-2"])
def test_it_judges_the_switch_that_an_import_makes(platform: str, tmp_path: Path) -> None:
    """The ports that are up; one that is down reserves memory, but an import leaves it out."""
    tables = json.loads((PLATFORMS / f"{platform}.json").read_text())
    del tables["PORT"]["Ethernet16"]
    tables.get("CABLE_LENGTH", {}).get("AZURE", {}).pop("Ethernet16", None)
    data = json.dumps(tables).encode()
    lab = import_lab(parse_config_db(data, "c.json"))
    for file, text in lab.files.items():
        (tmp_path / file).write_text(text)
    node = resolve_plan(parse_lab(tmp_path), {}).node(lab.name)
    config = parse_config_db(data, "c.json")
    configured = SwitchBuilder(Bindings(config), config.chip.cell_bytes).build()
    assert node.switch is not None
    assert configured.switch.pools == node.switch.pools
    assert {port.name: port.port for port in configured.ports} == {
        port.interface: _unwatched(port.switch_port) for port in node.ports if port.switch_port is not None
    }


def _unwatched(port: SwitchPort) -> SwitchPort:
    """Return a port without its watchdog, which is judged by its table."""
    return port.model_copy(update={"pfc": None if port.pfc is None else port.pfc.model_copy(update={"watchdog": None})})


def left_to_buffermgrd() -> Tables:
    """Return a file as SONiC's templates write it: PFC and cables, and no lossless group in BUFFER_PG."""
    return patched(sound(), {"BUFFER_PG": {f"{port}|3-4": None for port in sound()["PORT"]}})


def test_groups_that_buffermgrd_binds_are_a_note() -> None:
    found = judge(left_to_buffermgrd()).findings
    assert {(one.rule, one.severity) for one in found} == {("pfc-lossy-group", "note")}
    assert "binds pg_lossless_1000_5m_profile" in found[0].sentence


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        ({"CABLE_LENGTH": {"AZURE": dict.fromkeys(sound()["PORT"], "0m")}}, "warning"),
        ({"CABLE_LENGTH": None}, "error"),
        ({"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}, "error"),
        ({"BUFFER_PG": {f"{port}|3": {"profile": "ingress_lossy_profile"} for port in sound()["PORT"]}}, "error"),
    ],
    ids=["0m", "no cable", "dynamic model", "bound to a lossy profile"],
)
def test_groups_that_nobody_makes_lossless_are_told(change: Tables, severity: str) -> None:
    """Templates write a cable of 0 m for ports without a neighbour."""
    found = judge(patched(left_to_buffermgrd(), change)).findings
    assert ("pfc-lossy-group", severity) in {(one.rule, one.severity) for one in found}


def test_ports_alike_are_told_once() -> None:
    (finding,) = judge(trap("starvation")).findings
    assert finding.ports == tuple(sound()["PORT"])
    assert "(Ethernet0, Ethernet4 and 3 more ports)" in finding.sentence


def test_ports_that_differ_are_told_apart() -> None:
    longer = patched(sound(), {"CABLE_LENGTH": {"AZURE": {"Ethernet8": "40000m"}}})
    (finding,) = judge(longer).findings
    assert (finding.rule, finding.ports) == ("headroom-below-need", ("Ethernet8",))


def test_n_busy_queues_are_as_many_as_there_are_ports() -> None:
    """Alpha 1 of 384 KB: 64 KB each with five busy; 70 KB are reached with four ports and not with five."""
    change = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "70000", "green_max_threshold": "70000"}}}
    assert "wred-unreachable-when-busy" in rules_of(patched(sound(), change))
    fewer = patched(sound(), change)
    del fewer["PORT"]["Ethernet16"]
    for table in ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP", "PFC_WD"):
        fewer[table] = {key: value for key, value in fewer[table].items() if not key.startswith("Ethernet16")}
    del fewer["CABLE_LENGTH"]["AZURE"]["Ethernet16"]
    assert "wred-unreachable-when-busy" not in rules_of(fewer)


def test_cells_count_against_thresholds() -> None:
    """A frame of 1514 bytes takes six cells of 256 bytes: 1.4 % more."""
    change = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "65000", "green_max_threshold": "65000"}}}
    tables = patched(sound(), change)
    assert {finding.rule for finding in judge(tables).findings} <= {
        finding.rule for finding in judge(tables, 4096).findings
    }
    assert "wred-unreachable-when-busy" in {finding.rule for finding in judge(tables, 4096).findings}


def test_findings_are_in_the_order_of_the_file() -> None:
    both = patched(trap("starvation"), {"PORT_QOS_MAP": {"Ethernet0": {"pfc_to_queue_map": None}}})
    lines = [finding.line for finding in judge(both).findings]
    assert len(lines) == 2
    assert lines == sorted(lines, key=lambda line: line or 0)


def test_what_waits_is_said() -> None:
    assert "were not checked" in judge(trap("malformed")).skipped
    assert "no size in bytes of egress_lossy_pool" in judge(fine("percentage-of-the-dynamic-model")).skipped
    assert "correct the reserved sizes first" in judge(trap("reserved-above-pool")).skipped


def test_a_file_of_ports_is_no_switch() -> None:
    judgement = judge({"PORT": {f"Ethernet{number}": {"speed": "1000"} for number in range(2049)}})
    assert (judgement.findings, judgement.skipped.rpartition(": ")[2]) == (
        (),
        "2049 ports, and no switch has more than 2048",
    )


def test_a_malformed_entry_does_not_hide_the_others() -> None:
    both = patched(trap("malformed"), {"SCHEDULER": {"scheduler.0": {"pir": "5000000"}}})
    assert rules_of(both) == {"malformed", "rates-inconsistent"}


def test_a_file_of_something_else_is_told_by_its_mistakes() -> None:
    tables: Tables = {"PORT": {f"Ethernet{number}": {"speed": "fast"} for number in range(200)}}
    judgement = judge(tables)
    assert {finding.rule for finding in judgement.findings} == {"malformed"}
    assert "nearly all of the file is malformed" in judgement.skipped


def test_a_file_without_qos_has_nothing_to_find() -> None:
    assert judge({"PORT": sound()["PORT"]}) == Judgement("config_db.json", (), 5)


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"3", b"\xff", b'{"PORT": '])
def test_what_is_no_json_object_cannot_be_judged(data: bytes) -> None:
    with pytest.raises(LabError, match=r"^c\.json"):
        judge_config_db(data, "c.json")


def test_what_is_wrong_elsewhere_does_not_keep_qos_from_being_judged() -> None:
    judgement = judge(patched(trap("starvation"), {"INTERFACE": {"Ethernet0|10.0.0.1": {}}}))
    assert ({finding.rule for finding in judgement.findings}, judgement.skipped) == ({"malformed", "starvation"}, "")


def test_of_very_many_findings_the_worst_are_told() -> None:
    tables = patched(trap("starvation"), {"WRED_PROFILE": {f"w{number}": {"ecn": "ecn_all"} for number in range(1500)}})
    judgement = judge(tables)
    assert (len(judgement.findings), judgement.more) == (1000, 501)
    assert {finding.severity for finding in judgement.findings} == {"error"}
    assert as_text([judgement]).endswith("\nand 501 more\n")


WORDS = st.sampled_from(
    [
        "",
        "0",
        "1",
        "-1",
        "9",
        "99999999999999999999",
        "3-4",
        "Ethernet0",
        "NULL",
        "true",
        "x|y",
        "[BUFFER_POOL|x]",
        "\ud800",
    ]
)


def test_pools_that_no_port_uses_are_left_out_where_there_are_too_many() -> None:
    tables = copy.deepcopy(sound())
    for name in ("spare", "spare2"):
        tables["BUFFER_POOL"][name] = dict(tables["BUFFER_POOL"]["egress_lossy_pool"])
    judgement = judge(tables)
    assert judgement.skipped == ""


def test_more_pools_than_a_switch_has_are_told() -> None:
    tables = copy.deepcopy(sound())
    for number in range(3):
        tables["BUFFER_POOL"][f"more{number}"] = dict(tables["BUFFER_POOL"]["egress_lossy_pool"])
        profile = tables["BUFFER_PROFILE"]["egress_lossy_profile"] | {"pool": f"more{number}"}
        tables["BUFFER_PROFILE"][f"more{number}"] = profile
        tables["BUFFER_QUEUE"][f"Ethernet{4 * number}|5-7"] = {"profile": f"more{number}"}
    assert "6 pools, and no switch has more than 4" in judge(tables).skipped


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.slow("judges a hundred drawn changes of a file")
def test_any_change_of_the_file_is_judged(data: st.DataObject) -> None:
    tables = copy.deepcopy(data.draw(st.sampled_from([sound(), *map(trap, TRAPS)])))
    for _ in range(data.draw(st.integers(1, 4))):
        table = data.draw(st.sampled_from(sorted(tables)))
        key = data.draw(st.sampled_from(sorted(tables[table]) or [""]))
        fields = tables[table].get(key, {})
        field = data.draw(st.sampled_from(sorted(fields) or ["pool"]))
        match data.draw(st.sampled_from(["field", "without", "key", "rename"])):
            case "field":
                fields[field] = data.draw(WORDS)
            case "without":
                fields.pop(field, None)
            case "key":
                tables[table].pop(key, None)
            case _:
                tables[table][data.draw(WORDS)] = fields
    judgement = judge(tables)
    assert as_text([judgement]).isprintable() or "\n" in as_text([judgement])
    as_text([judgement]).encode()
    assert all(finding.rule in RULES and finding.bound and finding.consequence for finding in judgement.findings)
