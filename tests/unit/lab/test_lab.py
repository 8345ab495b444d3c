"""Reading labs: inheritance, both link forms, settings, matrices; random damage gives LabError and nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repository import ROOT

from fabriclab.lab import Lab, LabError, Problems, parse_lab
from fabriclab.lab.network.read import parse_topology
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.document import parse_document

LABS = sorted(path.parent for path in ROOT.glob("labs/*/experiment.yml"))

EXPERIMENT = """
title: Two to one
switches:
  default: {buffer: 64 KB}
hosts:
  default: {congestion_control: cubic}
traffic:
  rounds: {kind: rounds, senders: 1, receiver: c, size: 64 KB, rounds: 3}
  long: {kind: long, senders: [a, b], receiver: c, start: 1 ms, stop: 1 s, stagger: 10 ms}
probes:
  queues: {interval: 100 us, ports: [s:eth3]}
  tcp: {interval: 1 ms, traffic: [long]}
parameters: {senders: traffic.rounds.senders, buffer: switches.default.buffer}
variants:
  reno: {hosts.default.congestion_control: reno}
  dctcp: {hosts.default.congestion_control: dctcp, switches.default.ecn_threshold: 30 KB}
matrix:
  demo: {variant: [reno, dctcp], senders: [1, 2]}
  buffers: {buffer: [64 KB, 128 KB]}
checks:
  - {metric: goodput_bps, operator: ">", value: 900 Mbps, where: {variant: reno, buffer: 0.064 MB, senders: 2}}
"""
GENERATED = """
title: What the seed draws
switches: {default: {buffer: 64 KB}}
groups:
  background: {share: 33 %}
  foreground: rest
  left: {rack: s}
  one: {count: 1, of: [a, b]}
hosts: {background: {congestion_control: reno}}
traffic:
  bulk: {kind: long, senders: all, pairs: permutation, jitter: 1 ms, stop: 1 s}
  web: {kind: arrivals, senders: left, size: {distribution: web-search, cap: 1 MB}, interval: 10 ms, stop: 1 s, \
dscp: ef}
  some: {kind: arrivals, senders: foreground, size: 2 KB .. 16 KB, load: 1 %, arrival: bursty, burst: 4, stop: 1 s}
  ask: {kind: query, aggregators: one, workers: all, response: web-search, interval: 50 ms, stop: 1 s, deadline: 10 ms}
  job: {kind: shuffle, mappers: 2, reducers: [c], size: 1 MB, transport: mptcp}
  perf: {kind: iperf3, senders: one, receiver: c, stop: 1 s}
matrix: {demo: {groups.background.share: [33 %, 60 %], seed: 1..2}}
report: {figures: [{kind: slowdown, traffic: [web], bins: [10 KB, 1 MB]}, {kind: deadlines}]}
"""
TOPOLOGY = """
name: small
topology:
  defaults: {kind: linux, labels: {owner: net}}
  groups:
    switches: {labels: {fabriclab.role: switch}}
  nodes:
    s: {group: switches, labels: {rack: 1}}
    a:
    b: {}
    c: {labels: {fabriclab.role: host}}
  links:
    - {endpoints: ['a:eth1', 's:eth1'], vars: {rate: 1 Gbps, delay: 25 us}}
    - {endpoints: ['s:eth2', 'b:eth1'], mtu: 9000, ipv4: ['192.168.7.0/31', ''], vars: {rate: 1 Gbps}}
    - type: veth
      endpoints:
        - {node: c, interface: eth1, mac: '02:AA:00:00:00:01', ipv4: 10.0.0.2/31, vars: {rate: 10 Gbps}}
        - {node: s, interface: eth3}
      vars: {rate: 1 Gbps, delay: 5 us}
"""


def write_lab(directory: Path, topology: str = TOPOLOGY, experiment: str = EXPERIMENT) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "topology.clab.yml").write_text(topology, encoding="utf-8")
    (directory / "experiment.yml").write_text(experiment, encoding="utf-8")
    return directory


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return parse_lab(write_lab(tmp_path / "small"))


def topology_of(text: str) -> Topology:
    problems = Problems()
    document = parse_document(text, "topology.clab.yml", problems)
    assert document is not None
    topology = parse_topology(document, problems)
    problems.raise_if_any()
    return topology


def test_the_generated_experiment_is_good(tmp_path: Path) -> None:
    lab = parse_lab(write_lab(tmp_path, TOPOLOGY.replace("rate: 10 Gbps", "rate: 1 Gbps"), GENERATED))
    assert [traffic.name for traffic in lab.experiment.traffic] == ["bulk", "web", "some", "ask", "job", "perf"]


def test_roles_are_inherited_and_follow_from_a_single_link() -> None:
    topology = topology_of(TOPOLOGY)
    assert topology.switches == ("s",)
    assert topology.hosts == ("a", "b", "c")


def test_a_node_overrides_its_group_its_kind_and_the_defaults() -> None:
    layered = """
name: layers
topology:
  defaults: {kind: linux, labels: {fabriclab.role: switch}}
  kinds: {linux: {labels: {fabriclab.role: host}}}
  groups: {fabric: {labels: {fabriclab.role: switch}}}
  nodes:
    a: {group: fabric}
    b: {labels: {other: x}}
    c: {group: fabric, labels: {fabriclab.role: host}}
  links:
    - {endpoints: ['a:eth1', 'b:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['a:eth2', 'c:eth1'], vars: {rate: 1 Gbps}}
"""
    assert {node.name: node.role for node in topology_of(layered).nodes} == {"a": "switch", "b": "host", "c": "host"}


def test_an_endpoints_variables_override_the_links() -> None:
    end, other = topology_of(TOPOLOGY).links[2].ends
    assert end.rate is not None and end.rate.value == 10**10
    assert end.delay is not None and end.delay.value == 5000
    assert other.rate is not None and other.rate.value == 10**9
    assert end.mac is not None and end.mac.value == "02:aa:00:00:00:01"


def test_an_empty_address_is_none() -> None:
    first, second = topology_of(TOPOLOGY).links[1].ends
    assert first.ipv4 is not None and str(first.ipv4.value) == "192.168.7.0/31"
    assert second.ipv4 is None


def test_ecn_is_understood_however_yaml_reads_it(tmp_path: Path) -> None:
    for number, (text, meaning) in enumerate(
        [("on", "on"), ("true", "on"), ("'off'", "off"), ("no", "off"), ("accept", "accept")]
    ):
        experiment = EXPERIMENT.replace("congestion_control: cubic}", f"congestion_control: cubic, ecn: {text}}}")
        ecn = _without_dctcp(tmp_path / str(number), experiment).experiment.hosts["a"].ecn
        assert ecn is not None and ecn.value == meaning


def _without_dctcp(directory: Path, experiment: str) -> Lab:
    lines = [line for line in experiment.splitlines() if not line.startswith("  dctcp:")]
    return parse_lab(write_lab(directory, experiment="\n".join(lines).replace("[reno, dctcp]", "[reno]")))


def test_points_run_over_the_last_axis_fastest(lab: Lab) -> None:
    expected = [{"variant": variant, "senders": senders} for variant in ("reno", "dctcp") for senders in ("1", "2")]
    assert lab.points() == expected
    assert lab.points("buffers") == [{"buffer": "64 KB"}, {"buffer": "128 KB"}]
    with pytest.raises(LabError, match=r"matrix: 'buffer' is not a matrix; did you mean 'buffers'\?"):
        lab.points("buffer")


def test_a_lab_without_a_matrix_has_one_point(tmp_path: Path) -> None:
    assert parse_lab(write_lab(tmp_path / "one", experiment=EXPERIMENT.split("matrix:")[0])).points() == [{}]


def test_a_check_compares_in_the_form_of_the_settings(lab: Lab) -> None:
    assert dict(lab.study.checks[0].where) == {"variant": "reno", "buffer": "64 KB", "senders": 2}
    assert lab.normalise("buffer", "0.064 MB") == "64 KB"
    assert lab.study.checks[0].value == 900e6


def test_settings_are_read_like_the_file(lab: Lab) -> None:
    applied = lab.apply({"senders": "2", "hosts.a.rto_min": "0.01 s"})
    assert applied.settings == {"senders": 2, "hosts.a.rto_min": "10 ms"}
    rto_min = applied.experiment.hosts["a"].rto_min
    assert rto_min is not None and rto_min.value == 10_000_000
    assert applied.experiment.hosts["b"].rto_min is None
    rounds = applied.experiment.traffic[0]
    assert getattr(rounds, "senders", None) == ("a", "b")


def test_a_parameter_beside_a_variant_has_the_last_word(lab: Lab) -> None:
    applied = lab.apply({"switches.default.ecn_threshold": "20 KB", "variant": "dctcp"})
    threshold = applied.experiment.switches["s"].ecn_threshold
    assert threshold is not None and threshold.value == 20_000


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "sender",
            "2",
            "--set sender=2: unknown setting; did you mean 'senders'? (or a key, such as hosts.default.rto_min)",
        ),
        (
            "senders",
            "3",
            "--set senders=3: traffic.rounds.senders: 3 senders of 2 hosts other than the receiver; write 1 to 2",
        ),
        ("variant", "dctpc", "--set variant=dctpc: variant: 'dctpc' is not a variant; did you mean 'dctcp'?"),
        (
            "buffer",
            "64",
            "--set buffer=64: switches.default.buffer: '64' has no unit; write one of B, KB, MB, GB, KiB, MiB, GiB, "
            "such as '64 KB', or 'none'",
        ),
        ("hosts.a.ecm", "on", "--set hosts.a.ecm=on: 'hosts.a.ecm': 'ecm' is unknown; did you mean 'ecn'?"),
        (
            "limit",
            "1 ms",
            "--set limit=1 ms: limit: '1 ms' is not after the last start or stop of traffic.long, 1 s; write more",
        ),
        (
            "buffer",
            "",
            "--set buffer=: switches.default.buffer: '' is not a size; write a number and a unit, such as '64 KB', or "
            "'none'",
        ),
    ],
)
def test_bad_settings(lab: Lab, name: str, value: str, message: str) -> None:
    with pytest.raises(LabError) as raised:
        lab.apply({name: value})
    assert str(raised.value) == message


def test_a_problem_holds_what_was_written(lab: Lab) -> None:
    with pytest.raises(LabError) as raised:
        lab.apply({"buffer": "64"})
    (problem,) = raised.value.mistakes
    assert (problem.key, problem.value, problem.line) == ("switches.default.buffer", "64", None)


def test_a_missing_directory_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no such directory; a lab is a directory with"):
        parse_lab(tmp_path / "nowhere")


def test_a_trace_is_part_of_the_lab(tmp_path: Path) -> None:
    directory = write_lab(
        tmp_path / "traced",
        experiment="title: T\nswitches: {default: {buffer: 64 KB}}\ntraffic: {t: {kind: trace, file: t.csv}}\n",
    )
    (directory / "t.csv").write_bytes(b"abc")
    trace = parse_lab(directory).experiment.traffic[0]
    assert getattr(trace, "sha256", "") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("directory", LABS, ids=lambda path: path.name)
@pytest.mark.no_cover
def test_our_labs_are_good(directory: Path) -> None:
    assert parse_lab(directory).name == directory.name


SETTING_NAMES = [
    "senders",
    "buffer",
    "variant",
    "links.rate",
    "hosts.a..b.ecn",
    "limit",
    "seed",
    "traffic.long.senders",
    "probes.queues.ports",
]
PIECES = [
    *(
        ":",
        "-",
        ",",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "\n",
        "  ",
        "\t",
        "#",
        "&a ",
        "*a",
        "!!x ",
        "|",
        ">",
        "%",
        "@",
        "..",
        "<<",
        "?",
        "---\n",
    ),
    *(
        "null",
        "on",
        "0",
        "-1",
        "1e9",
        "9" * 30,
        "64",
        " KB",
        " ms",
        "\u00e9",
        "\u0661",
        "\x00",
        "h1..h9",
        "all",
        "default",
        "variant",
        "kind",
        "\\x",
    ),
]


def edited(text: str, chooser: random.Random) -> str:
    """Return `text` with one random edit: a piece put in or over, a stretch cut out,
    a line moved, doubled or indented."""
    at, length = chooser.randrange(len(text) + 1), chooser.choice((0, 1, 1, 3, 10))
    lines = text.split("\n")
    line = chooser.randrange(len(lines))
    edits = [
        text[:at] + chooser.choice(PIECES) + text[at + length :],
        text[:at] + text[at + length :],
        "\n".join([*lines[:line], lines[line], *lines[line:]]),
        "\n".join([*lines[:line], *lines[line + 1 :], lines[line]]),
        "\n".join([*lines[:line], " " + lines[line], *lines[line + 1 :]]),
    ]
    return chooser.choice(edits)


def damaged(text: str, chooser: random.Random) -> str:
    for _ in range(chooser.randint(1, 4)):
        text = edited(text, chooser)
    return text


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(chooser=st.randoms(use_true_random=False), bad_topology=st.booleans())
def test_a_damaged_lab_gives_lab_errors_and_nothing_else(
    tmp_path: Path, chooser: random.Random, bad_topology: bool
) -> None:
    if bad_topology:
        write_lab(tmp_path, topology=damaged(TOPOLOGY, chooser))
    else:
        write_lab(tmp_path, experiment=damaged(chooser.choice((EXPERIMENT, GENERATED)), chooser))
    try:
        parse_lab(tmp_path)
    except LabError as errors:
        assert errors.mistakes
        assert all("\n" not in str(problem) for problem in errors.mistakes)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    name=st.sampled_from(SETTING_NAMES) | st.text(max_size=20),
    value=st.sampled_from(PIECES) | st.text(max_size=20),
)
def test_any_setting_is_applied_or_refused(lab: Lab, name: str, value: str) -> None:
    try:
        lab.apply({name: value})
    except LabError as errors:
        assert errors.mistakes
