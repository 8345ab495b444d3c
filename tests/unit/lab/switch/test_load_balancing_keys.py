"""How switches choose among paths: from the lab's text to the plan, the sysctls and the warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from bgp_fabrics import TWO_LEAVES
from event_lines import lines_of
from small_fabrics import TWO_HOSTS, plan_of

from fabriclab.compile import compile_job, compile_node, shortfalls
from fabriclab.formats.load_balancing import MODES
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import LabError

FLOWS = "title: T\nswitches:\n  default: {buffer: 64 KB, load_balancing: {KEYS}}\nhosts: {default: HOST}\ntraffic:\n"
TCP = "  one: {kind: flows, senders: 1, receiver: h2, size: 10 KB}\n"
ROCE = "  one: {kind: flows, senders: 1, receiver: h2, size: 10 KB, transport: roce}\n"
CHOICE = "net.ipv4.load_balancing = "


def made(directory: Path, keys: str = "", *, host: str = "{}", traffic: str = TCP, more: str = "") -> Plan:
    text = FLOWS.replace("KEYS", keys).replace("HOST", host) + traffic + more
    return plan_of(directory, TWO_LEAVES, text)


def sysctls(plan: Plan, node: str, *, stock: bool = False) -> dict[str, str]:
    lines = compile_node(plan.node(node), plan, stock=stock).sysctl.splitlines()
    return dict(line.split(" = ", 1) for line in lines)


def test_without_it_a_plan_and_its_files_say_nothing_of_it(tmp_path: Path) -> None:
    plan = made(tmp_path)
    assert all(node.load_balancing is None for node in plan.nodes)
    assert "load_balancing" not in plan_json(plan)
    assert not any("load_balancing" in key for key in sysctls(plan, "leaf1"))
    written = made(tmp_path, "mode: flow, idle_time: 1 ms")
    assert plan_json(written) == plan_json(plan)


def test_every_default_is_explicit(tmp_path: Path) -> None:
    plan = made(tmp_path, "mode: packet-quality")
    assert parse_plan_json(plan_json(plan)) == plan
    chosen = plan.node("leaf1").load_balancing
    assert chosen is not None
    assert (chosen.mode, chosen.hash_seed, chosen.idle_ns, chosen.max_flows) == ("packet-quality", None, 256_000, 512)
    assert (chosen.load_min_bytes, chosen.load_max_bytes) == (0, 6 * 1514)


def test_a_switch_overrides_key_by_key(tmp_path: Path) -> None:
    more = "  leaf1: {load_balancing: {hash_seed: 9, load_min: 1 KB}}\n"
    text = FLOWS.replace("hosts:", f"{more}hosts:").replace("KEYS", "mode: flowlet-quality, idle_time: 1 ms")
    plan = plan_of(tmp_path, TWO_LEAVES, text.replace("HOST", "{}") + TCP)
    here, there = plan.node("leaf1").load_balancing, plan.node("leaf2").load_balancing
    assert here is not None
    assert there is not None
    assert (here.mode, here.idle_ns, here.hash_seed, here.load_min_bytes) == ("flowlet-quality", 10**6, 9, 1000)
    assert here.load_max_bytes == 1000 + 6 * 1514
    assert there.hash_seed is None


def test_the_seed_of_the_hash_is_the_kernels_and_draws_differ_all_the_same(tmp_path: Path) -> None:
    plan = made(tmp_path, "mode: packet-random, hash_seed: 17")
    leaves = [sysctls(plan, leaf) for leaf in ("leaf1", "leaf2")]
    assert [each["net.ipv4.fib_multipath_hash_seed"] for each in leaves] == ["17", "17"]
    words = [each["net.ipv4.load_balancing"].split() for each in leaves]
    assert words[0][0] == "packet-random"
    assert words[0][3:] == ["idle_ns", "256000", "flows", "512", "load_min", "0", "load_max", "9084"]
    assert words[0][2] != words[1][2], "generators"
    other = sysctls(plan.model_copy(update={"seed": plan.seed + 1}), "leaf1")["net.ipv4.load_balancing"].split()
    assert other[2] != words[0][2], "another run draws other numbers"


def test_a_switch_with_one_path_to_everywhere_is_told_nothing(tmp_path: Path) -> None:
    text = FLOWS.replace("KEYS", "mode: packet-random").replace("HOST", "{}") + TCP
    plan = plan_of(tmp_path, TWO_HOSTS, text)
    assert not any("load_balancing" in key for key in sysctls(plan, "s1"))
    assert plan.warnings == ()


@pytest.mark.parametrize("mode", MODES)
def test_containers_choose_by_flow_and_say_so(tmp_path: Path, mode: str) -> None:
    plan = made(tmp_path, f"mode: {mode}, hash_seed: 17")
    stock = sysctls(plan, "leaf1", stock=True)
    assert stock["net.ipv4.fib_multipath_hash_seed"] == "17"
    assert "net.ipv4.load_balancing" not in stock
    said = [sentence for sentence in shortfalls(plan) if "load_balancing" in sentence]
    if mode == "flow":
        assert said == []
    else:
        assert len(said) == 1
        assert said[0].startswith(f"switches: load_balancing.mode {mode} of ")
        assert "by the hash of its five-tuple" in said[0]


@pytest.mark.parametrize(
    ("keys", "host", "traffic", "said"),
    [
        ("mode: packet-random", "{}", TCP, ["packets of TCP overtake each other (traffic.one)"]),
        ("mode: flowlet-random", "{}", TCP, []),
        ("mode: packet-random", "{nic: {roce: {}}}", ROCE, ["NICs with loss_recovery: go-back-n take each packet"]),
        ("mode: flowlet-quality", "{nic: {roce: {}}}", ROCE, []),
        (
            "mode: packet-quality",
            "{nic: {roce: {loss_recovery: selective-repeat}}}",
            ROCE,
            ["NICs without reorder_window send each packet again"],
        ),
        ("mode: packet-quality", "{nic: {roce: {loss_recovery: selective-repeat, reorder_window: 64}}}", ROCE, []),
    ],
)
def test_what_traffic_takes_amiss_is_said_with_its_line(
    tmp_path: Path, keys: str, host: str, traffic: str, said: list[str]
) -> None:
    plan = made(tmp_path, keys, host=host, traffic=traffic)
    found = [warning for warning in plan.warnings if "load_balancing" in warning]
    assert len(found) == len(said)
    for sentence, words in zip(found, said, strict=True):
        assert sentence.startswith("experiment.yml:3: load_balancing.mode")
        assert words in sentence


def test_a_window_of_reordering_is_the_nics(tmp_path: Path) -> None:
    host = "{nic: {roce: {loss_recovery: selective-repeat, reorder_window: 64}}}"
    plan = made(tmp_path, host=host, traffic=ROCE)
    assert " selective reorder 64 " in compile_node(plan.node("h1"), plan).tc
    assert "reorder_window" not in plan_json(made(tmp_path, host="{nic: {roce: {}}}", traffic=ROCE))


def test_an_event_changes_the_mode_and_back(tmp_path: Path) -> None:
    events = (
        "events:\n  e1: {at: 1 s, set: {switches.leaf1.load_balancing.mode: packet-random}}\n"
        "  e2: {at: 2 s, set: {switches.leaf1.load_balancing.mode: flow}}\n"
    )
    there, back = (lines_of(change) for change in compile_job(made(tmp_path, more=events))["events"])
    assert next(line for line in there if CHOICE in line).startswith(f"leaf1 sysctl {CHOICE}packet-random seed ")
    assert f"leaf1 sysctl {CHOICE}flow" in back
    assert not any("leaf2" in line for line in (*there, *back))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("load_min: 9 KB, load_max: 9 KB", "load_max: '9 KB' is not above load_min, 9 KB; write more"),
        ("load_max: 0 B", "load_max: '0 B' is not above load_min, 0 B; write more"),
        ("hash_seed: 0", "hash_seed: '0' is out of range"),
        ("idle_time: 1 ns", "idle_time: '1 ns' is out of range"),
        ("mode: spray", "mode: 'spray' is unknown"),
        ("mod: flow", "mod: unknown key; did you mean 'mode'"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(tmp_path: Path, keys: str, said: str) -> None:
    with pytest.raises(LabError) as told:
        made(tmp_path, keys)
    (line,) = str(told.value).splitlines()
    assert "experiment.yml:3: switches.default.load_balancing." in line
    assert said in line


def test_a_window_without_selective_repeat_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="reorder_window: '64' does nothing with loss_recovery: go-back-n"):
        made(tmp_path, host="{nic: {roce: {reorder_window: 64}}}", traffic=ROCE)
