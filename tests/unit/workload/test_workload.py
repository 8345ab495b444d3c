"""Generated flows: a golden trace of each kind, who sends to whom, what waits for what,
loads and sizes over long runs."""

from __future__ import annotations

import os
from collections import Counter
from typing import cast

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT
from sample_plans import changed
from sample_traffic import EVERYONE, HOSTS, KINDS, MS, distributed, two_racks

from fabriclab.formats.plan.traffic import (
    Arrivals,
    ArrivalsTraffic,
    FixedSize,
    FlowsTraffic,
    LongTraffic,
    Pairs,
    Pattern,
    Process,
    QueryTraffic,
    RoundsTraffic,
    ShuffleTraffic,
    Traffic,
)
from fabriclab.workload import TraceError, generate_flows, trace_text
from fabriclab.workload.groups import unknown_groups, waiting_loop
from fabriclab.workload.pairs import permutation
from fabriclab.workload.randomness import Stream

GOLDEN = ROOT / "tests" / "golden" / "trace"


def flows_of(*traffic: Traffic, seed: int = 1) -> pl.DataFrame:
    return generate_flows(two_racks(*traffic, seed=seed)).with_columns(pl.col("src", "dst").cast(pl.String))


@pytest.mark.parametrize("kind", KINDS)
def test_golden_trace(kind: str) -> None:
    """The bits of a trace are a promise: the same on every machine. FABRICLAB_ACCEPT=1 rewrites the files."""
    text = "".join(trace_text(generate_flows(two_racks(KINDS[kind]))))
    file = GOLDEN / f"{kind}.csv"
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_sends_to_itself_and_every_group_that_is_waited_for_exists(kind: str) -> None:
    for seed in range(5):
        flows = flows_of(KINDS[kind], seed=seed)
        assert flows.filter(pl.col("src") == pl.col("dst")).is_empty()
        assert (flows["size_bytes"].drop_nulls() >= 4).all()
        assert unknown_groups(flows) == set()
        assert waiting_loop(flows) == []


def test_another_traffic_or_host_changes_no_draw() -> None:
    alone, beside = flows_of(KINDS["arrivals"]), flows_of(KINDS["query"], KINDS["arrivals"])
    assert alone.drop("flow").equals(beside.filter(pl.col("class").cast(pl.String) == "web").drop("flow"))
    fewer = changed(KINDS["query"], aggregators=("h4",))
    columns = ["start_ns", "src", "dst", "size_bytes"]
    of_h4 = flows_of(KINDS["query"]).filter(pl.col("dst") == "h4")
    assert of_h4.select(columns).equals(flows_of(fewer).select(columns))


def test_the_seed_changes_the_draws() -> None:
    assert not flows_of(KINDS["arrivals"]).equals(flows_of(KINDS["arrivals"], seed=2))


def arrivals(process: str, **changes: object) -> ArrivalsTraffic:
    jitter_ns = 5000 if process == "jittered" else 0
    of_process = Arrivals(process=cast(Process, process), interval_ns=MS, jitter_ns=jitter_ns, burst_flows=4)
    traffic = ArrivalsTraffic(
        name="a",
        pairs=EVERYONE,
        size=FixedSize(size_bytes=1000),
        arrivals=of_process,
        start_ns=2 * MS,
        stop_ns=4000 * MS,
    )
    return changed(traffic, **changes)


@pytest.mark.parametrize("process", ["fixed", "jittered", "poisson", "bursty"])
def test_starts_lie_in_their_time_and_are_as_many_as_asked(process: str) -> None:
    flows = flows_of(arrivals(process))
    assert flows["start_ns"].is_sorted()
    assert flows["start_ns"].is_between(2 * MS, 4000 * MS, closed="left").all()
    asked = 6 * 3998
    # A burst's flows come together: the number of bursts has the spread of a Poisson count, each burst counts fourfold.
    spread = {"fixed": 0.0, "jittered": 6.0, "poisson": asked**0.5, "bursty": 4 * (asked / 4) ** 0.5}[process]
    assert abs(flows.height - asked) <= 5 * spread


def test_fixed_starts_are_an_interval_apart_and_jitter_moves_them_a_little() -> None:
    fixed = flows_of(arrivals("fixed")).filter(pl.col("src") == "h1")["start_ns"]
    assert set(fixed.diff().drop_nulls()) == {MS}
    moved = flows_of(arrivals("jittered")).filter(pl.col("src") == "h1")["start_ns"] % MS
    assert (moved < 5000).all()
    assert moved.n_unique() > 2000


def test_a_bursts_flows_start_at_one_instant() -> None:
    counts = flows_of(arrivals("bursty")).group_by("src", "start_ns").len()["len"]
    assert set(counts.unique()) <= {4, 8}


@pytest.mark.parametrize("name", ["web-search", "data-mining", "facebook-hadoop", "storage", "key-value"])
def test_the_load_asked_is_got_over_a_long_run(name: str) -> None:
    """40 % of 1 Gbps, within 1 %: so long that this is five standard deviations of the sum of its sizes."""
    size = distributed(name, None if name in ("key-value", "facebook-hadoop", "storage", "web-search") else 10**6)
    interval_ns = round(8 * size.mean_bytes / 0.4)
    flows = 1_500_000
    stop_ns = interval_ns * flows // len(HOSTS)
    traffic = changed(
        arrivals("poisson", size=size, start_ns=0, stop_ns=stop_ns),
        **{"arrivals": Arrivals(process="poisson", interval_ns=interval_ns, load_ppm=400_000)},
    )
    got = 8 * int(flows_of(traffic)["size_bytes"].sum()) / (len(HOSTS) * stop_ns)
    assert abs(got / 0.4 - 1) < 0.01


def receivers(pattern: str, sender: str, **changes: object) -> Counter[str]:
    pairs = changed(Pairs(pattern=cast(Pattern, pattern), senders=HOSTS, receivers=HOSTS), **changes)
    flows = flows_of(arrivals("fixed", pairs=pairs))
    return Counter(flows.filter(pl.col("src") == sender)["dst"])


def test_receivers_are_who_the_pattern_says() -> None:
    assert set(receivers("random", "h1")) == set(HOSTS[1:])
    assert set(receivers("in-rack", "h1")) == {"h2", "h3"}
    assert set(receivers("out-of-rack", "h1")) == {"h4", "h5", "h6"}
    assert len(receivers("permutation", "h1")) == 1
    shares = receivers("all-to-all", "h1")
    assert set(shares) == set(HOSTS[1:])
    assert max(shares.values()) - min(shares.values()) <= 1


def test_hot_spots_take_their_share() -> None:
    shares = receivers("hot-spot", "h1", hot_spots=("h6",), hot_share_ppm=300_000)
    # 3998 draws: five standard deviations of a binomial count are 145.
    assert abs(shares["h6"] - 1199) < 145
    assert set(shares) == set(HOSTS[1:])
    assert set(receivers("hot-spot", "h6", hot_spots=("h6",), hot_share_ppm=300_000)) == set(HOSTS[:5])


def test_in_rack_needs_another_receiver_there() -> None:
    pairs = Pairs(pattern="in-rack", senders=("h1",), receivers=("h1", "h4"))
    with pytest.raises(
        TraceError, match=r"traffic\.a: h1 has no other receiver behind s1; add one, or leave h1 out of the senders"
    ):
        flows_of(arrivals("fixed", pairs=pairs))


names = st.integers(1, 30).map(lambda count: [f"h{number}" for number in range(count)])


@given(st.integers(0, 2**64 - 1), names, names, st.integers(0, 30))
def test_permutation_is_fair_and_sends_nobody_to_itself(
    seed: int, senders: list[str], receivers: list[str], shift: int
) -> None:
    """Senders and receivers overlap in part, wholly, or not at all."""
    receivers = [f"h{int(name[1:]) + shift}" for name in receivers]
    if len(receivers) == 1 and receivers[0] in senders:
        with pytest.raises(TraceError, match="has no other receiver"):
            permutation(senders, receivers, Stream(seed, "t"), "t")
        return
    found = permutation(senders, receivers, Stream(seed, "t"), "t")
    assert list(found) == senders
    assert all(sender != receiver for sender, receiver in found.items())
    counts = Counter(dict.fromkeys(receivers, 0)) | Counter(found.values())
    of_each = [Counter(found.values())[receiver] for receiver in receivers]
    assert set(counts) <= set(receivers)
    assert max(of_each) - min(of_each) <= 1


def test_permutations_of_equals_are_derangements_of_every_kind() -> None:
    found = Counter(tuple(permutation(HOSTS[:4], HOSTS[:4], Stream(seed, "t"), "t").values()) for seed in range(400))
    assert len(found) == 9


def test_rounds_jitter_within_their_window() -> None:
    flows = flows_of(KINDS["rounds"])
    assert flows.filter(pl.col("after").is_null())["start_ns"].is_between(MS, MS + 999).all()
    later = flows.filter(pl.col("after").is_not_null())["start_ns"]
    assert later.is_between(0, 999).all()
    assert later.n_unique() > 1


def test_long_flows_in_pairs() -> None:
    traffic = KINDS["long"]
    assert isinstance(traffic, LongTraffic)
    flows = flows_of(traffic)
    assert sorted(flows["src"]) == sorted(flows["dst"]) == list(HOSTS)
    assert set(flows["transport"]) == {"mptcp"}


def test_long_flows_from_all_to_all_are_one_to_each() -> None:
    pairs = Pairs(pattern="all-to-all", senders=HOSTS[:3], receivers=HOSTS[1:4])
    traffic = LongTraffic(name="all", senders=HOSTS[:3], pairs=pairs, start_ns=5, stop_ns=MS, stagger_ns=10)
    flows = flows_of(traffic)
    assert set(flows.select("src", "dst").iter_rows()) == {(a, b) for a in HOSTS[:3] for b in HOSTS[1:4] if a != b}
    assert flows["start_ns"].to_list() == [5, 15, 25, 35, 45, 55, 65]
    assert flows["src"].to_list() == ["h1", "h2", "h3", "h1", "h2", "h3", "h1"]


def test_a_querys_workers_are_different_and_answer_one_aggregator() -> None:
    traffic = changed(KINDS["query"], stop_ns=2000 * MS, fan_out=5, jitter_ns=0)
    assert isinstance(traffic, QueryTraffic)
    queries = flows_of(traffic).group_by("group", maintain_order=True).agg("src", "dst", pl.col("start_ns").min())
    assert all(len(set(workers)) == 5 for workers in queries["src"])
    assert all(len(set(aggregators)) == 1 for aggregators in queries["dst"])
    assert queries["group"].to_list() == [f"query/q{number}" for number in range(queries.height)]
    assert set(queries["src"].explode()) == set(HOSTS)


def test_more_workers_than_there_are_is_an_error() -> None:
    with pytest.raises(TraceError, match=r"traffic\.query: fan_out: 6 workers of the 5 that h\d can ask"):
        flows_of(changed(KINDS["query"], fan_out=6))


def test_a_shuffles_bytes_are_the_jobs_but_for_what_stays_on_its_host() -> None:
    job = KINDS["shuffle"]
    assert isinstance(job, ShuffleTraffic)
    flows = flows_of(job)
    phase = flows["group"].str.split("/").list.get(1)
    of_phase = {name: flows.filter(phase == name) for name in ("input", "shuffle", "output")}
    assert of_phase["input"]["size_bytes"].sum() == 1_000_001
    # h4 maps and reduces: one of 4 x 3 partitions stays there.
    assert 1_000_001 - of_phase["shuffle"]["size_bytes"].sum() in (83_333, 83_334)
    assert of_phase["output"]["size_bytes"].sum() == 2 * 1_000_001


def test_a_shuffle_keeps_its_parallel_copies_and_waits_for_its_input() -> None:
    flows = flows_of(KINDS["shuffle"]).filter(pl.col("group").str.starts_with("job/shuffle/h5/"))
    chains = dict(flows.select("group", "after").iter_rows())
    assert chains == {
        "job/shuffle/h5/0/0": "job/input",
        "job/shuffle/h5/1/0": "job/input",
        "job/shuffle/h5/0/1": "job/shuffle/h5/0/0",
        "job/shuffle/h5/1/1": "job/shuffle/h5/1/0",
    }
    assert set(flows["src"]) == set(HOSTS[:4])


def test_replicas_lie_as_hdfs_puts_them() -> None:
    racks = dict.fromkeys(HOSTS[:3], "s1") | dict.fromkeys(HOSTS[3:], "s2")
    for seed in range(10):
        flows = flows_of(KINDS["shuffle"], seed=seed)
        for reducer in HOSTS[3:]:
            chain = flows.filter(pl.col("group").str.starts_with(f"job/output/{reducer}/"))
            (first, second) = chain["dst"]
            assert chain["src"].to_list() == [reducer, first]
            assert racks[first] != racks[reducer]
            assert racks[second] == racks[first]
            assert set(chain["after"]) == {f"job/shuffle/{reducer}"}


def test_a_shuffle_that_cannot_be_is_an_error() -> None:
    job = KINDS["shuffle"]
    with pytest.raises(
        TraceError, match=r"traffic\.job: size: 40 bytes can.t be divided into 12 shares of 4 bytes or more each"
    ):
        flows_of(changed(job, size_bytes=40, sources=()))
    with pytest.raises(TraceError, match=r"traffic\.job: replicas: 7 copies need 7 hosts; the job has 6"):
        flows_of(changed(job, replicas=7))


def test_a_shuffle_without_sources_starts_at_its_time() -> None:
    flows = flows_of(changed(KINDS["shuffle"], sources=()))
    assert set(flows.filter(pl.col("after").is_null())["start_ns"]) == {7}
    assert flows.filter(pl.col("after").is_null())["group"].str.ends_with("/0").all()


def test_flows_are_numbered_by_traffic_then_by_start() -> None:
    flows = flows_of(KINDS["arrivals"], KINDS["flows"])
    assert flows["flow"].to_list() == list(range(flows.height))
    assert flows["class"].cast(pl.String).rle().struct.field("value").to_list() == ["web", "mice"]
    assert flows.filter(pl.col("class").cast(pl.String) == "mice")["start_ns"].is_sorted()


def test_columns_that_nobody_uses_are_not_written() -> None:
    plain = FlowsTraffic(
        name="f", senders=("h1",), receiver="h2", size_bytes=9, count=1, start_ns=0, interval_ns=0, mode="push"
    )
    header = "flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class"
    assert (
        "".join(trace_text(generate_flows(two_racks(plain))))
        == f"# fabriclab-trace-1\n{header}\n0,0,h1,h2,9,,push,,,,f\n"
    )


def test_rounds_without_jitter_ask_in_one_order() -> None:
    rounds = changed(KINDS["rounds"], jitter_ns=0)
    assert isinstance(rounds, RoundsTraffic)
    asked = flows_of(rounds)["src"].to_list()
    assert asked[:3] == asked[3:6] == asked[6:]
