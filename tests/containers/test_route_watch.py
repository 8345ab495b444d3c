"""When routes became right, by what the programs in the containers wrote of their looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.route_watch import Reached, RouteWatch, watch_tasks
from fabriclab.engine.containers.routes import Expectation, ExpectedRoute

OVER = ExpectedRoute("10.1.0.0/24", frozenset({"eth2"}), 1)
BOTH = Expectation(None, {"leaf1": (OVER,), "leaf2": (OVER,)})
ONE = Expectation(None, {"leaf1": (OVER,)})


def look(began_ns: int, interface: str = "") -> str:
    table = [{"dst": "10.1.0.0/24", "dev": interface, "flags": []}] if interface else []
    return f"{began_ns} {began_ns + 10} {json.dumps(table)}\n"


def watch(directory: Path, **looks: str) -> RouteWatch:
    for node, text in looks.items():
        (directory / f"routes@{node}.log").write_text(text)
    return RouteWatch(directory, list(looks))


def test_a_program_watches_each_node() -> None:
    (task,) = watch_tasks(["leaf1"])
    assert (task.name, task.node) == ("routes@leaf1", "leaf1")
    assert task.argv == ("/tools/gauge", "changes", "sh", "-c", "ip -j route show; ip -j -6 route show")


def test_both_families_have_a_default(tmp_path: Path) -> None:
    said = '5 6 [{"dst":"default","dev":"eth2","flags":[]}] [{"dst":"default","dev":"eth3","flags":[]}]\n'
    for prefix, interface in (("0.0.0.0/0", "eth2"), ("::/0", "eth3")):
        wanted = Expectation(None, {"leaf1": (ExpectedRoute(prefix, frozenset({interface}), 1),)})
        assert watch(tmp_path, leaf1=said).reached(wanted, 0) == Reached(6, 1)


def test_routes_are_right_when_the_last_node_has_them(tmp_path: Path) -> None:
    found = watch(
        tmp_path, leaf1=look(100) + look(200, "eth1") + look(300, "eth2"), leaf2=look(100, "eth1") + look(250, "eth2")
    )
    assert found.reached(BOTH, 50) == Reached(at_ns=310, within_ns=10), "between the look's beginning and its end"
    assert found.missing(BOTH) == []


def test_routes_that_became_wrong_again_are_not_right(tmp_path: Path) -> None:
    found = watch(tmp_path, leaf1=look(100, "eth2") + look(200, "eth1"))
    assert found.reached(ONE, 0) is None
    assert found.missing(ONE) == ["leaf1: 10.1.0.0/24 has 1 next hops (eth1), not 1 of eth2"]
    with (tmp_path / "routes@leaf1.log").open("a") as log:
        log.write(look(400, "eth2"))
    assert found.reached(ONE, 0) == Reached(410, 10), "since it has been right for good"


def test_what_was_right_before_is_right_at_once(tmp_path: Path) -> None:
    assert watch(tmp_path, leaf1=look(100, "eth2")).reached(ONE, 5000) == Reached(5000, 0)


def test_a_look_that_is_half_written_is_waited_for(tmp_path: Path) -> None:
    whole = look(100, "eth2")
    found = watch(tmp_path, leaf1=whole[:20])
    assert found.reached(ONE, 0) is None and found.missing(ONE) == ["leaf1: its routes are not known yet"]
    (tmp_path / "routes@leaf1.log").write_text(whole)
    assert found.reached(ONE, 0) == Reached(110, 10)


def test_words_of_a_program_that_failed_are_said(tmp_path: Path) -> None:
    found = watch(tmp_path, leaf1="gauge: ip: No such file or directory\n")
    with pytest.raises(EngineError, match=r"routes@leaf1\.log: gauge: ip: No such file"):
        found.reached(ONE, 0)
