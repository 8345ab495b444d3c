"""What a run's events say of routing."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped_labs import shipped_plan

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.model import Event
from fabriclab.formats.plan.setup import Configured, Setup, SetupDaemon
from fabriclab.results.routing import routing_metrics


def test_without_events_nothing_was_measured(tmp_path: Path) -> None:
    assert routing_metrics(tmp_path) == {"convergence_ns": None, "reconvergence_ns": None}


def test_each_event_has_its_own_time_and_the_first_that_routing_followed_is_the_runs(tmp_path: Path) -> None:
    lines = [
        '{"event":"converged","convergence_ns":2300823192,"t_ns":2302799520}',
        '{"event":"change","name":"slow","t_ns":1}',
        '{"event":"change","name":"cut","t_ns":2}',
        '{"event":"reconverged","name":"cut","reconvergence_ns":111,"t_ns":3}',
        '{"event":"change","name":"mended","t_ns":4}',
        '{"event":"reconverged","name":"mended","reconvergence_ns":222,"t_ns":5}',
        '{"event":"progress","t_ns',
    ]
    (tmp_path / "events.jsonl").write_text("\n".join(lines))
    assert routing_metrics(tmp_path) == {
        "convergence_ns": 2300823192,
        "reconvergence_ns": 111,
        "reconvergence_ns[slow]": None,
        "reconvergence_ns[cut]": 111,
        "reconvergence_ns[mended]": 222,
    }


def test_an_engine_that_looks_now_and_then_says_how_exact_it_is(tmp_path: Path) -> None:
    lines = [
        '{"event":"converged","convergence_ns":3,"within_ns":2,"t_ns":0}',
        '{"event":"change","name":"cut","t_ns":2}',
        '{"event":"reconverged","name":"cut","reconvergence_ns":111,"within_ns":40,"t_ns":3}',
    ]
    (tmp_path / "events.jsonl").write_text("\n".join(lines))
    assert routing_metrics(tmp_path) == {
        "convergence_ns": 3,
        "convergence_within_ns": 2,
        "reconvergence_ns": 111,
        "reconvergence_ns[cut]": 111,
        "reconvergence_within_ns": 40,
        "reconvergence_within_ns[cut]": 40,
    }


def routed_plan(*, daemons: bool = True) -> Plan:
    """Return a plan whose routes are the nodes' own matter, with a silent cut at 2 s, a failure at 5 s, and changes."""
    link = (("h1:eth1", "r1:eth1"),)
    events = (
        Event(name="slow", at_ns=10**9, links=link, action="change", delay_ns=5),
        Event(name="cut", at_ns=2 * 10**9, links=link, action="blackhole"),
        Event(name="mended", at_ns=4 * 10**9, links=link, action="up"),
        Event(name="dies", at_ns=5 * 10**9, links=link, action="down"),
    )
    made = shipped_plan("incast")
    setup = Setup(daemons=(SetupDaemon(name="bgpd", argv=("bgpd",)),) if daemons else ())
    nodes = tuple(node.model_copy(update={"setup": setup}) for node in made.nodes)
    configured = Configured(still_ns=10**9, limit_ns=10**10)
    return made.model_copy(update={"nodes": nodes, "events": events, "bgp": None, "configured": configured})


def happened(*settled: str, end_ns: int = 22_700_000_000) -> str:
    lines = [f'{{"event":"change","name":"{name}","t_ns":1}}' for name in ("slow", "cut", "mended", "dies")]
    lines += [f'{{"event":"reconverged","name":"{name}","reconvergence_ns":7,"t_ns":2}}' for name in settled]
    return "\n".join([*lines, f'{{"event":"end","status":"complete","t_ns":{end_ns}}}'])


@pytest.mark.parametrize(
    ("settled", "expected"),
    [
        ((), {"": 2 * 10**9, "[cut]": 2 * 10**9, "[dies]": 17_700_000_000}),
        (("cut",), {"": 17_700_000_000, "[dies]": 17_700_000_000}),
        (("cut", "dies"), {}),
    ],
)
def test_what_routing_had_not_followed_is_told(
    tmp_path: Path, settled: tuple[str, ...], expected: dict[str, int]
) -> None:
    """Before: the slow case, which people want to see, was the one of which nothing was said."""
    (tmp_path / "events.jsonl").write_text(happened(*settled))
    told = routing_metrics(tmp_path, routed_plan())
    unsettled = {name: value for name, value in told.items() if name.startswith("reconvergence_unsettled_ns")}
    assert unsettled == {f"reconvergence_unsettled_ns{name}": value for name, value in expected.items()}


def test_nothing_is_told_of_what_did_not_happen_or_nobody_watched(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(happened(end_ns=0).splitlines()[-1])
    assert routing_metrics(tmp_path, routed_plan()) == routing_metrics(tmp_path), "no event happened"
    events.write_text(happened().rpartition("\n")[0])
    assert routing_metrics(tmp_path, routed_plan()) == routing_metrics(tmp_path), "the machine died"
    events.write_text(happened())
    assert routing_metrics(tmp_path, routed_plan(daemons=False)) == routing_metrics(tmp_path), "nobody routes"
