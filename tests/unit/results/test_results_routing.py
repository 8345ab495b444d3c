"""What a run's events say of routing."""

from __future__ import annotations

from pathlib import Path

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
