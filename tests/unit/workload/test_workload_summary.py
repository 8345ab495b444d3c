"""What the summary of a trace says."""

from __future__ import annotations

from sample_traffic import HOSTS, KINDS, distributed, two_racks

from fabriclab.formats.plan.traffic import Arrivals, ArrivalsTraffic, Pairs, Traffic
from fabriclab.workload import generate_flows, trace_summary


def summary(*traffic: Traffic) -> list[str]:
    plan = two_racks(*traffic)
    return trace_summary(plan, generate_flows(plan)).splitlines()


def loaded(name: str, cap_bytes: int | None) -> ArrivalsTraffic:
    size = distributed(name, cap_bytes)
    interval_ns = round(8 * size.mean_bytes / 0.4)
    return ArrivalsTraffic(
        name="web",
        pairs=Pairs(pattern="random", senders=HOSTS, receivers=HOSTS),
        size=size,
        arrivals=Arrivals(process="poisson", interval_ns=interval_ns, load_ppm=400_000),
        start_ns=0,
        stop_ns=2000 * interval_ns,
    )


def test_the_load_is_shown_with_its_formula_and_what_was_got() -> None:
    lines = summary(loaded("web-search", None))
    assert lines[0] == "web (arrivals):"
    assert "  sizes: web-search (linear between points); mean 1.711 MB" in lines
    assert "  interval = 8 x mean size / (load x rate) = 8 x 1711250.0 B / (0.4 x 1 Gbps)" in lines
    assert "  interval of a sender: 34.225 ms, poisson" in lines
    asked = next(line for line in lines if line.startswith("  load asked: 40.00% of a sender's line; got: "))
    # 12,000 flows of a coefficient of variation of 2: five standard deviations are 4 % of 40 %.
    assert abs(float(asked.rpartition(" ")[2].rstrip("%")) - 40) < 4


def test_a_cap_is_labelled() -> None:
    lines = summary(loaded("data-mining", 10**7))
    assert "  sizes: data-mining CAPPED at 10 MB (linear between points); mean 603.6 KB" in lines
    assert "    the cap keeps 4.8% of the bytes (the mean without it is 12.66 MB): say so with every result" in lines


def test_flows_that_are_raised_to_four_bytes_are_said() -> None:
    assert "    28.57% of its flows are smaller than 4 bytes, and are raised to that" in summary(
        loaded("key-value", None)
    )


def test_every_kind_has_its_lines() -> None:
    text = "\n".join(summary(*KINDS.values()))
    assert "sru (rounds):\n  9 flows, 3 hosts to h6\n  bytes: 2.304 MB; mean size 256 KB\n" in text
    assert "; 6 wait for a group" in text
    assert "elephants (iperf3):\n  2 flows, 2 hosts to h6\n  2 long flows until 1 s\n  starts: at 1 ms" in text
    assert "each of 3 workers; requests of 1.6 KB" in text
    assert "  input: 4 flows, 1 MB\n  shuffle: 11 flows, 916.7 KB\n  output: 6 flows, 2 MB" in text
    assert "  sizes: uniform, 2 KB to 16 KB; mean 9 KB" in text


def test_without_a_load_the_interval_says_what_is_offered() -> None:
    lines = summary(KINDS["jittered"])
    assert "  interval of a sender: 1 ms, jittered" in lines
    # 70 KB each millisecond on 1 Gbps.
    assert "  load offered: 56.00% of a sender's line; got: 56.00%" in lines
