"""A node runs the FRR that its image, its configuration or the lab asks for, if it was built here; else it is told so,
by image, file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import plan
from fabriclab.compile import compile_job, needed_layers
from fabriclab.formats.plan import Plan
from fabriclab.lab import LabError
from fabriclab.lab.setup import frr_versions
from fabriclab.lab.setup.frr_versions import VERSION, how_to_bring, version_here
from fabriclab.runs.engines import plan_for

TOPOLOGY = """\
name: m
topology:
  nodes:
    r1: {{kind: linux, image: {image}, binds: ['r1.conf:/etc/frr/frr.conf']}}
    h1: {{kind: linux, image: alpine, exec: [ip addr add 10.0.0.2/30 dev eth1]}}
  links:
    - endpoints: ['r1:eth1', 'h1:eth1']
"""
TAIL = f"the virtual machine runs FRR {VERSION}, whose bugs and commands may differ; "


def built(monkeypatch: pytest.MonkeyPatch, *versions: str) -> None:
    monkeypatch.setattr(frr_versions, "_asked", [lambda: versions])


def router(directory: Path, image: str, line: str = "!") -> Plan:
    (directory / "r1.conf").write_text(f"hostname r1\n{line}\n")
    (directory / "m.clab.yml").write_text(TOPOLOGY.format(image=image))
    return plan(directory / "m.clab.yml")


@pytest.mark.parametrize(
    ("image", "line", "said", "missing"),
    [
        ("quay.io/frrouting/frr:10.7.1", "!", "image quay.io/frrouting/frr:10.7.1", "10.7.1"),
        ("frrouting/frr:v8.4.0", "!", "image frrouting/frr:v8.4.0", "8.4.0"),
        ("localhost:5000/frr:9.1", "frr version 9.1", "image localhost:5000/frr:9.1", "9.1"),
        ("frr", "frr version 8.1_git", "r1.conf:2 (frr version 8.1)", "8.1"),
        ("frr:9.0", "frr version 10.5.2", "image frr:9.0, r1.conf:2 (frr version 10.5.2)", "9.0"),
        ("frr:latest", "!", "", ""),
        ("frr", "frr defaults datacenter", "", ""),
        (f"frrouting/frr:{VERSION}.2", f"frr version {VERSION}", "", ""),
        ("10.2-frr", "!", "", ""),
    ],
)
def test_a_version_that_is_not_here_is_told(tmp_path: Path, image: str, line: str, said: str, missing: str) -> None:
    found = router(tmp_path, image, line)
    told = [one for one in found.warnings if "runs FRR" in one]
    assert told == ([f"m.clab.yml: r1: {said}: {TAIL}{how_to_bring(missing)}"] if said else [])
    assert found.node("r1").frr is None and '"frr"' not in found.model_dump_json()


def test_many_routers_are_told_once(tmp_path: Path) -> None:
    nodes = "".join(f"    r{n}: {{kind: linux, image: 'frr:9.0'}}\n" for n in range(1, 13))
    links = "".join(f"    - endpoints: ['r{n}:eth1', 'r{n + 1}:eth2']\n" for n in range(1, 12))
    (tmp_path / "m.clab.yml").write_text(f"name: m\ntopology:\n  nodes:\n{nodes}  links:\n{links}")
    (found,) = [one for one in plan(tmp_path / "m.clab.yml").warnings if "runs FRR" in one]
    assert found.startswith("m.clab.yml: r1, r2, ")
    assert found.endswith(f"r12: image frr:9.0: {TAIL}{how_to_bring('9.0')}")


@pytest.mark.parametrize(
    ("image", "line", "runs", "told"),
    [
        ("frr:10.5.1", "!", "10.5.1", ""),
        ("frr:10.5.1", "frr version 8.4", "10.5.1", ""),
        ("frr:latest", "frr version 10.5.4_git", "10.5.4", ""),
        ("frr:10.5", "!", "10.5.4", ""),
        ("frr:10.5.3", "!", "10.5.4", "image frr:10.5.3: FRR 10.5.4 runs, the nearest release that is here"),
        ("frr:10.5.0", "!", "10.5.1", "image frr:10.5.0: FRR 10.5.1 runs, the nearest release that is here"),
        ("frr:10.6.1", "!", None, TAIL),
        (f"frr:{VERSION}.1", "!", None, ""),
        (f"frr:{VERSION}.3", "!", f"{VERSION}.3", ""),
    ],
)
def test_a_version_that_is_here_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: str, line: str, runs: str | None, told: str
) -> None:
    built(monkeypatch, "10.5.1", "10.5.4", f"{VERSION}.3")
    found = router(tmp_path, image, line)
    assert found.node("r1").frr == runs
    said = [one for one in found.warnings if "FRR" in one and "runs" in one]
    assert len(said) == bool(told) and all(told in one for one in said)


def test_each_node_has_the_layer_of_its_version_and_containers_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(monkeypatch, "10.5.1")
    found = router(tmp_path, "frr:10.5.1")
    assert needed_layers(found) == {"frr-10.5.1": ("10.5.1",)}
    layers = {node["name"]: node.get("layers") for node in compile_job(found)["nodes"]}
    assert layers == {"r1": ["frr-10.5.1"], "h1": None}
    contained = plan_for(found, "containerlab")
    assert needed_layers(contained) == {}
    assert "containerlab: FRR 10.5.1 of r1: a container runs the version of its image" in contained.warnings


SWITCH_LAB = """\
name: m
topology:
  nodes:
    s1: {kind: linux, image: fabriclab/switch}
    s2: {kind: linux, image: fabriclab/switch}
    h1: {kind: linux, image: fabriclab/host}
    h2: {kind: linux, image: fabriclab/host}
  links:
    - endpoints: ['s1:eth1', 'h1:eth1']
    - endpoints: ['s1:eth2', 's2:eth2']
    - endpoints: ['s2:eth1', 'h2:eth1']
"""


def switches(directory: Path, keys: str, routing: str = "bgp-unnumbered") -> Plan:
    (directory / "topology.clab.yml").write_text(SWITCH_LAB)
    experiment = {
        "title": "two versions",
        "links": "{rate: 1 Gbps}",
        "routing": f"{{protocol: {routing}}}",
        "traffic": "{one: {kind: rounds, senders: [h1], receiver: h2, size: 1 MB, rounds: 1}}",
        "switches": keys,
    }
    (directory / "experiment.yml").write_text("".join(f"{key}: {value}\n" for key, value in experiment.items()))
    return plan(directory)


def test_a_lab_chooses_the_version_of_its_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(monkeypatch, "10.5.1")
    found = switches(tmp_path, "{default: {buffer: 64 KB, frr: 10.5}, s2: {frr: '10.3'}}")
    assert [found.node(name).frr for name in ("s1", "s2", "h1")] == ["10.5.1", None, None]


def test_a_chosen_version_that_is_not_here_is_refused(tmp_path: Path) -> None:
    where = r"experiment.yml:5: switches\.default\.frr: "
    with pytest.raises(LabError, match=rf"{where}FRR '10\.7\.0' is not here, only 10\.3; "):
        switches(tmp_path, "{default: {buffer: 64 KB, frr: 10.7.0}}")
    with pytest.raises(LabError, match=r"FRR 'newest' is not here, only 10\.3$"):
        switches(tmp_path, "{default: {buffer: 64 KB, frr: newest}}")


def test_a_version_of_what_runs_no_frr_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(monkeypatch, "10.5.1")
    found = switches(tmp_path, "{default: {buffer: 64 KB, frr: 10.5}}", "static")
    assert "switches.NAME.frr of s1, s2 has no effect, because no FRR runs there" in found.warnings
    assert needed_layers(found) == {}


def test_a_version_of_which_nothing_is_here() -> None:
    assert version_here("9.1") is None and version_here("nonsense") is None and version_here(VERSION) == VERSION
