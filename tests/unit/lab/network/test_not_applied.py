"""Containerlab's keys that nothing here acts on: `check` lists nodes and lines, `run` says so shortly,
the plan has the list."""

from __future__ import annotations

from pathlib import Path

import pytest
from outside_files import containerlab_schema
from repository import ROOT
from shipped_labs import shipped_lab
from typer.testing import CliRunner

from fabriclab.api.warnings import sentences_before_runs
from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.lab.network import containerlab, not_applied
from fabriclab.lab.network.not_applied import unapplied_sentences
from fabriclab.lab.network.read import parse_topology
from fabriclab.lab.reading.document import parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.setup.read import KEYS
from fabriclab.resolve import resolve_plan

LABS = sorted(path.parent for path in ROOT.glob("labs/*/experiment.yml"))
ENGINES_DIFFER = "is not applied in the virtual machine; Containerlab applies it, so the engines differ"
TOPOLOGY = """
name: keys
MGMT
topology:
  defaults: {DEFAULTS}
  kinds: {linux: {KIND}}
  groups: {servers: {GROUP}}
  nodes:
    s1: {kind: linux, labels: {fabriclab.role: switch}}
    h1: {kind: linux, NODE}
    h2: {kind: linux, group: servers}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps}}
"""
EXPERIMENT = (
    "title: T\nswitches: {default: {buffer: 64 KB}}\ntraffic: {a: {kind: long, senders: [h1], receiver: h2, stop: "
    "1 s}}\n"
)


def topology_text(**parts: str) -> str:
    text = TOPOLOGY
    for name in ("MGMT", "DEFAULTS", "KIND", "GROUP", "NODE"):
        text = text.replace(name, parts.get(name.lower(), ""))
    return text


def sentences(**parts: str) -> tuple[str, ...]:
    return sentences_in(Path(), **parts)


def sentences_in(directory: Path, **parts: str) -> tuple[str, ...]:
    problems = Problems()
    document = parse_document(topology_text(**parts), "lab/topology.clab.yml", problems)
    assert document is not None
    topology = parse_topology(document, problems, directory)
    assert problems.found() == []
    return unapplied_sentences(topology.not_applied)


def write_lab(directory: Path, **parts: str) -> Path:
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(topology_text(**parts))
    (directory / "experiment.yml").write_text(EXPERIMENT)
    return directory


def test_every_key_of_the_schema_is_sorted() -> None:
    schema = containerlab_schema()
    sorts = (not_applied.APPLIED, not_applied.OF_CONTAINERS, not_applied.DIFFERS, not_applied.MAY_DIFFER)
    keys = [key for sort in sorts for key in sort]
    assert sorted(keys) == sorted(schema["definitions"]["node-config"]["properties"])
    of_file = [*not_applied.FILE_APPLIED, *not_applied.FILE_DIFFERS, *not_applied.FILE_UNUSED]
    assert sorted(of_file) == sorted(schema["properties"])


VALUES = {
    "binds": "['x:/y']",
    "exec": "[ls]",
    "env": "{A: b}",
    "sysctls": "{net.x: 1}",
    "network-mode": "none",
    "image": "'ubuntu:24.04'",
}


ACTING = {key for key in KEYS if key != "startup-config"}
"""Of a node that does not run FRR a startup-config is nothing."""


@pytest.mark.parametrize("key", sorted({*not_applied.DIFFERS, *not_applied.MAY_DIFFER} - ACTING))
def test_each_key_is_listed_with_its_node_and_line(key: str) -> None:
    (said,) = sentences(node=f"{key}: {VALUES.get(key, 'x')}")
    assert said.startswith(
        f"topology.clab.yml: {key} of h1 (line 10) is not applied in the virtual machine; Containerlab "
    )
    assert said.endswith("so the engines differ" if key in not_applied.DIFFERS else "so the engines may differ")


def test_what_acts_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "motd").write_text("hello\n")
    (tmp_path / "vars").write_text("B=c\n")
    keys = (
        "exec: [ls], binds: ['motd:/etc/motd'], env: {A: b}, env-files: [vars], cmd: 'sleep 1', entrypoint: env, "
        "network-mode: none, stages: {create: {exec: [{command: ls}]}}, healthcheck: {test: [CMD, 'true']}, "
        "sysctls: {a.b: 1}"
    )
    assert sentences_in(tmp_path, node=keys) == ()


def test_files_of_the_host_are_listed(tmp_path: Path) -> None:
    (said,) = sentences_in(tmp_path, node="binds: ['/lib/modules:/lib/modules:ro']")
    assert said == f"topology.clab.yml: binds of h1 (line 10) {ENGINES_DIFFER}"


@pytest.mark.parametrize(
    "key", [key for key in containerlab.NODE_KEYS if key in (*not_applied.APPLIED, *not_applied.OF_CONTAINERS)]
)
def test_what_is_about_containers_alone_is_quiet(key: str) -> None:
    value = {"kind": "linux", "labels": "{x: y}", "cap-add": "[NET_ADMIN]", "group": "servers"}.get(key, "x")
    assert sentences(**{"defaults" if key in ("kind", "group") else "node": f"{key}: {value}"}) == ()


@pytest.mark.parametrize(
    "node", ["exec: []", "env: {}", "binds: null", "cmd: ''", "network-mode: bridge", "image: fabriclab/host:2"]
)
def test_what_asks_for_nothing_is_quiet(node: str) -> None:
    assert sentences(node=node) == ()


def test_what_is_inherited_names_all_who_inherit_it_and_where_from() -> None:
    assert sentences(defaults="user: root", kind="memory: 1GB", group="cpu: 1", node="cpu: 2") == (
        f"topology.clab.yml: memory of s1, h1, h2 (line 6, kinds.linux) {ENGINES_DIFFER}",
        f"topology.clab.yml: user of s1, h1, h2 (line 5, defaults) {ENGINES_DIFFER}",
        f"topology.clab.yml: cpu of h1 (line 10), h2 (line 7, groups.servers) {ENGINES_DIFFER}",
    )


def test_keys_of_the_file() -> None:
    assert sentences(mgmt="mgmt: {network: x}\nprefix: mine") == (
        f"topology.clab.yml: mgmt (line 3) {ENGINES_DIFFER}",
        "topology.clab.yml: prefix (line 4) is not applied: in the virtual machine nothing has such a name, "
        "and containers of a run have names of their own",
    )


def test_many_nodes_are_one_line() -> None:
    nodes = "".join(f"    n{number}: {{kind: linux, dns: x, cpu: 1}}\n" for number in range(50))
    links = "".join(
        f"    - {{endpoints: ['n{number}:eth1', 's1:eth{number + 9}'], vars: {{rate: 1 Gbps}}}}\n"
        for number in range(50)
    )
    problems = Problems()
    text = topology_text().replace("  links:\n", f"{nodes}  links:\n{links}")
    document = parse_document(text, "topology.clab.yml", problems)
    assert document is not None
    assert unapplied_sentences(parse_topology(document, problems).not_applied) == (
        f"topology.clab.yml: dns of 50 nodes, n0 to n49 (lines 12 to 61) {ENGINES_DIFFER}",
        f"topology.clab.yml: cpu of 50 nodes, n0 to n49 (lines 12 to 61) {ENGINES_DIFFER}",
    )


@pytest.mark.parametrize("directory", LABS, ids=lambda path: path.name)
def test_our_labs_use_no_such_key(directory: Path) -> None:
    """The binds of sonic-vs switches' configurations are applied."""
    assert shipped_lab(directory.name).topology.not_applied == ()


def test_other_binds_of_a_sonic_switch_are_listed(tmp_path: Path) -> None:
    source = ROOT / "labs" / "sonic-leaf-spine"
    for file in filter(Path.is_file, source.iterdir()):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    topology = tmp_path / "topology.clab.yml"
    text = topology.read_text().replace(
        "'leaf1.json:/var/sonic/config_db.json'", "'leaf1.json:/etc/sonic/config_db.json', 'x.conf:/etc/frr/frr.conf'"
    )
    topology.write_text(text)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "x.conf" in line)
    said = unapplied_sentences(parse_lab(tmp_path, every_point=False).topology.not_applied)
    assert said == (f"topology.clab.yml: binds of leaf1 (line {line}) {ENGINES_DIFFER}",)


def test_check_lists_run_says_it_shortly_and_the_plan_carries_the_list(tmp_path: Path) -> None:
    directory = write_lab(tmp_path / "lab", node="user: me, binds: ['/x:/y']", group="cpu: 1")
    lab = parse_lab(directory)
    listed = unapplied_sentences(lab.topology.not_applied)
    assert len(listed) == 3
    checked = CliRunner().invoke(app, ["check", str(directory)])
    assert checked.exit_code == 0
    assert [line for line in checked.output.splitlines() if "not applied" in line] == [
        f"warning: {line}" for line in listed
    ]
    warnings = resolve_plan(lab, {}).warnings
    assert set(listed) <= set(warnings), "the plan lies in the run's directory; its report shows what it warns of"
    short = (
        "topology.clab.yml: not applied in the virtual machine: user, binds, cpu; fabriclab check names nodes and lines"
    )
    assert sentences_before_runs(lab.topology, [warnings]) == [short]
