"""Traffic as written and what it comes to in the plan: sizes, arrival processes, loads, pairs, carriers, defaults."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language import HOSTS, lab_of, plan_of, traffic_of

from fabriclab.lab.reading.document import parse_document
from fabriclab.lab.reading.dscp import parse_dscp
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.settings import normalise
from fabriclab.lab.traffic.process import interval_of_load

ARRIVALS = "kind: arrivals, senders: all, stop: 1 s"
QUERY = "kind: query, aggregators: [h1, h2], response: 2 KB, interval: 10 ms, stop: 1 s"


def test_arrivals_have_these_defaults(tmp_path: Path) -> None:
    assert traffic_of(tmp_path, f"{ARRIVALS}, size: 70 KB, interval: 1 ms") == {
        "kind": "arrivals",
        "name": "one",
        "pairs": {"pattern": "random", "senders": HOSTS, "receivers": HOSTS, "hot_spots": (), "hot_share_ppm": 0},
        "size": {"kind": "fixed", "size_bytes": 70_000},
        "arrivals": {
            "process": "poisson",
            "interval_ns": 1_000_000,
            "jitter_ns": 0,
            "burst_flows": 1,
            "load_ppm": None,
        },
        "start_ns": 0,
        "stop_ns": 10**9,
        "deadline_ns": None,
        "mode": "push",
        "carrier": {"transport": "tcp", "congestion_control": None, "dscp": 0, "ip": None},
    }


def test_a_query_asks_all_workers_but_the_aggregator(tmp_path: Path) -> None:
    query = traffic_of(tmp_path, QUERY)
    assert (query["workers"], query["fan_out"], query["request_bytes"], query["connection"]) == (HOSTS, 7, 1600, "kept")


def test_who_is_no_worker_asks_as_many_as_the_workers_among_themselves(tmp_path: Path) -> None:
    assert traffic_of(tmp_path, f"{QUERY}, workers: h2..h5")["fan_out"] == 3
    assert traffic_of(tmp_path, f"{QUERY}, workers: h5..h8")["fan_out"] == 4


def test_flows_over_mptcp_have_connections_of_their_own(tmp_path: Path) -> None:
    assert traffic_of(tmp_path, f"{QUERY}, transport: mptcp")["connection"] == "new"
    rounds = "kind: rounds, senders: 2, receiver: h8, size: 1 KB, rounds: 2"
    assert [traffic_of(tmp_path, rounds + more)["connection"] for more in ("", ", transport: mptcp")] == ["kept", "new"]


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("70 KB", {"kind": "fixed", "size_bytes": 70_000}),
        ("2 KB .. 16 KB", {"kind": "uniform", "smallest_bytes": 2000, "largest_bytes": 16_000}),
        ("4B..4B", {"kind": "uniform", "smallest_bytes": 4, "largest_bytes": 4}),
    ],
)
def test_sizes(tmp_path: Path, written: str, size: dict[str, object]) -> None:
    assert traffic_of(tmp_path, f"{ARRIVALS}, size: {written}, interval: 1 ms")["size"] == size


@pytest.mark.parametrize(
    ("written", "name", "cap_bytes", "mean_bytes"),
    [
        ("web-search", "web-search", None, 1_711_250.0),
        ("{distribution: web-search, cap: 10 MB}", "web-search", 10_000_000, 1_411_250.0),
        ("{distribution: web-search, cap: 30 MB}", "web-search", None, 1_711_250.0),  # a cap that cuts nothing is none
        ("{distribution: mine.txt}", "mine.txt", None, 500.0),
    ],
)
def test_distributions(tmp_path: Path, written: str, name: str, cap_bytes: int | None, mean_bytes: float) -> None:
    (tmp_path / "mine.txt").write_text("0 0\n1000 1\n", encoding="utf-8")
    size = traffic_of(tmp_path, f"{ARRIVALS}, size: {written}, interval: 1 ms")["size"]
    assert isinstance(size, dict)
    assert (size["name"], size["cap_bytes"], size["interpolation"]) == (name, cap_bytes, "linear")
    # Sizes below 4 bytes are raised to 4: so much more, and no more, is the mean.
    assert mean_bytes <= size["mean_bytes"] < mean_bytes + 0.01


def test_a_load_is_of_the_senders_line(tmp_path: Path) -> None:
    keys = f"{ARRIVALS}, size: 50 KB, load: 40 %"
    expected = {"process": "poisson", "interval_ns": 1_000_000, "jitter_ns": 0, "burst_flows": 1, "load_ppm": 400_000}
    assert traffic_of(tmp_path, keys)["arrivals"] == expected
    assert traffic_of(tmp_path, keys, {"links.rate": "10 Gbps"})["arrivals"] == {**expected, "interval_ns": 100_000}


@given(
    mean=st.fractions(min_value=4, max_value=10**9),
    load_ppm=st.integers(min_value=100, max_value=2_000_000),
    rate_bps=st.integers(min_value=10**6, max_value=10**12),
)
def test_the_interval_gives_the_load_back(mean: Fraction, load_ppm: int, rate_bps: int) -> None:
    interval_ns = interval_of_load(load_ppm, mean, rate_bps)
    exact_ns = 8 * mean * 10**15 / (load_ppm * rate_bps)
    assert abs(interval_ns - exact_ns) <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("arrival: fixed", ("fixed", 0, 1)),
        ("arrival: jittered", ("jittered", 1_000_000, 1)),
        ("arrival: jittered, jitter: 20 us", ("jittered", 20_000, 1)),
        ("arrival: bursty, burst: 8", ("bursty", 0, 8)),
    ],
)
def test_processes(tmp_path: Path, keys: str, expected: tuple[str, int, int]) -> None:
    arrivals = traffic_of(tmp_path, f"{ARRIVALS}, size: 1 KB, interval: 1 ms, {keys}")["arrivals"]
    assert isinstance(arrivals, dict)
    assert (arrivals["process"], arrivals["jitter_ns"], arrivals["burst_flows"]) == expected


@pytest.mark.parametrize(
    ("text", "dscp"),
    [
        ("0", 0),
        ("63", 63),
        ("ef", 46),
        ("EF", 46),
        ("cs1", 8),
        ("cs7", 56),
        ("af11", 10),
        ("af21", 18),
        ("af43", 38),
        ("le", 1),
    ],
)
def test_dscp_names_are_the_rfcs(text: str, dscp: int) -> None:
    assert parse_dscp(text) == dscp


def test_a_class_has_a_carrier_of_its_own(tmp_path: Path) -> None:
    keys = "kind: long, senders: 2, receiver: h8, stop: 1 s, transport: mptcp, congestion_control: reno, dscp: af21"
    carrier = {"transport": "mptcp", "congestion_control": "reno", "dscp": 18, "ip": None}
    assert traffic_of(tmp_path, keys)["carrier"] == carrier


def test_long_flows_in_pairs_have_no_single_receiver(tmp_path: Path) -> None:
    long = traffic_of(tmp_path, "kind: long, senders: h1..h4, receivers: h5..h8, stop: 1 s")
    pairs = {
        "pattern": "permutation",
        "senders": HOSTS[:4],
        "receivers": HOSTS[4:],
        "hot_spots": (),
        "hot_share_ppm": 0,
    }
    assert (long["receiver"], long["pairs"]) == (None, pairs)


def test_a_share_goes_to_the_hot_spots(tmp_path: Path) -> None:
    keys = f"{ARRIVALS}, size: 1 KB, interval: 1 ms, pairs: hot-spot, hot_spots: [h1, h5], hot_share: 62.5 %"
    pairs = traffic_of(tmp_path, keys)["pairs"]
    assert isinstance(pairs, dict)
    assert (pairs["hot_spots"], pairs["hot_share_ppm"]) == (("h1", "h5"), 625_000)


def test_a_job(tmp_path: Path) -> None:
    job = traffic_of(tmp_path, "kind: shuffle, mappers: h1..h4, reducers: [h5, h6], size: 1 GB, replicas: 3")
    assert (job["sources"], job["mappers"], job["reducers"]) == ((), HOSTS[:4], ("h5", "h6"))
    assert (job["size_bytes"], job["parallel_copies"], job["replicas"]) == (10**9, 5, 3)


def test_the_limit_follows_the_last_stop(tmp_path: Path) -> None:
    text = "traffic:\n  a: {kind: arrivals, senders: all, size: 1 KB, interval: 1 ms, stop: 3 s}\n"
    text += "  b: {kind: query, aggregators: [h1], response: 1 KB, interval: 10 ms, stop: 3 s, jitter: 5 ms}\n"
    assert plan_of(tmp_path, text).limit_ns == 63_005_000_000


def test_a_sizes_own_keys_can_be_set(tmp_path: Path) -> None:
    text = f"traffic: {{one: {{{ARRIVALS}, size: {{distribution: web-search}}, interval: 1 ms}}}}\n"
    lab = lab_of(tmp_path, text + "parameters: {cap: traffic.one.size.cap, workload: traffic.one.size.distribution}\n")
    assert lab.apply({"cap": "1000 KB", "workload": "data-mining"}).settings == {
        "cap": "1 MB",
        "workload": "data-mining",
    }


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("traffic.a.load", "40%", "40 %"),
        ("traffic.a.load", "12.50 %", "12.5 %"),
        ("groups.g.share", "100 %", "100 %"),
        ("traffic.a.dscp", "46", "ef"),
        ("traffic.a.dscp", "EF", "ef"),
        ("traffic.a.dscp", "7", 7),
        ("traffic.a.size", "2 KB..0.016 MB", "2 KB .. 16 KB"),
        ("seed", "007", 7),
    ],
)
def test_normal_forms_of_the_keys_of_traffic(key: str, text: str, value: object) -> None:
    document = parse_document("traffic: {a: {kind: arrivals}}", "experiment.yml", Problems())
    assert document is not None
    assert normalise(key, text, document) == value


def test_traffic_that_is_not_enabled_is_left_out(tmp_path: Path) -> None:
    flows = "kind: flows, senders: [h1], receiver: h8, size: 1 KB"
    text = f"traffic: {{one: {{{flows}, enabled: false}}, two: {{{flows}}}}}\n"
    assert [traffic.name for traffic in plan_of(tmp_path, text).traffic] == ["two"]
    swapped = {"traffic.one.enabled": "true", "traffic.two.enabled": "off"}
    assert [traffic.name for traffic in plan_of(tmp_path, text, settings=swapped).traffic] == ["one"]
