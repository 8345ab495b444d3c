"""A pytest plugin that measures what each test costs: wall time, and CPU time of this process and of its children.

CPU time is what `getrusage` says of the process and of those of its children that it waited for, theirs included. A
process that nobody of this session waits for is not counted: one that goes on in the background, such as a browser or
a stand-in's daemon, until its parent waits for it, and one that lost its parent for ever. What a fixture of a module or
of the session costs is its own entry, and no part of the test that happens to ask for it first.

The session ends with the slowest tests. Each has its reason beside it, `@pytest.mark.slow("boots three kernels")`, or
is named as one that lacks it. `--costs FILE` writes all of it as JSON lines; `--reasons` makes a lacking reason an
error. pytest's cache keeps what each test cost the last time: `--budget SECONDS` leaves out the last tests of those
that would take longer, all workers together.
"""

from __future__ import annotations

import json
import os
import re
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from patience import slowness

SHOWN = 20
_PROPERTY = "costs"
_BUSY = 2.0
_KEPT = "fabriclab/costs"
NEEDS_REASON_S = 3.0
"""A test that takes less on an idle host is not slow, whoever else is quicker."""
_UNKNOWN_S, _UNKNOWN_VM_S, _UNKNOWN_SLOW_S = 0.1, 1.0, 8.0
"""What a test is taken to cost of which the cache knows nothing."""


class Cost(NamedTuple):
    """Seconds of wall time, of this process's CPU time, and of that of children that were waited for."""

    wall_s: float
    own_s: float
    children_s: float

    @property
    def cpu_s(self) -> float:
        """Return the CPU time of the process and its children."""
        return self.own_s + self.children_s

    @property
    def idle_s(self) -> float:
        """Return about what it takes on an idle host: no less than its CPU time, and what it waits for itself."""
        return max(self.cpu_s, self.wall_s / slowness())

    def plus(self, other: Cost) -> Cost:
        """Return the sum."""
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))

    def minus(self, other: Cost) -> Cost:
        """Return the difference."""
        return Cost(*(a - b for a, b in zip(self, other, strict=True)))


NOTHING = Cost(0, 0, 0)


class Entry(NamedTuple):
    """A test or a shared fixture, what it cost, and why it is slow where somebody said so."""

    name: str
    cost: Cost
    reason: str | None


def now() -> Cost:
    """Return what was spent so far."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(time.monotonic(), own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime)


class Measuring:
    """What a worker does: each test's cost, with those of the shared fixtures that it was the first to ask for."""

    def __init__(self) -> None:
        self._fixtures: list[tuple[str, Cost]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Measure a fixture that several tests share."""
        if fixturedef.scope == "function":
            return (yield)
        before, known = now(), len(self._fixtures)
        try:
            return (yield)
        finally:
            inner = self._sum(known)
            self._fixtures.append((f"{fixturedef.baseid}::{fixturedef.argname}", now().minus(before).minus(inner)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Measure the first phase."""
        self._fixtures.clear()
        return (yield from self._phase(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Measure the test itself."""
        return (yield from self._phase(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Measure the last phase, and hand over the sum."""
        try:
            return (yield from self._phase(item))
        finally:
            mark = item.get_closest_marker("slow")
            spent = item.stash.get(_SPENT, NOTHING).minus(self._sum(0))
            shared = [(name, *cost) for name, cost in self._fixtures]
            item.user_properties.append((_PROPERTY, [[*spent], mark and mark.args[0], shared]))

    def _phase(self, item: pytest.Item) -> Iterator[None]:
        before = now()
        try:
            return (yield)
        finally:
            item.stash[_SPENT] = item.stash.get(_SPENT, NOTHING).plus(now().minus(before))

    def _sum(self, first: int) -> Cost:
        total = NOTHING
        for _, cost in self._fixtures[first:]:
            total = total.plus(cost)
        return total


_SPENT = pytest.StashKey[Cost]()


class Telling:
    """What the session does that the user sees: it gathers, tells of the slowest, and writes all of it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._entries: list[Entry] = []
        where = config.getoption("--costs")
        self._file = Path(where) if where else None
        if self._file is not None:
            self._file.write_text("")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist's what is known: all of them must sort and choose alike."""
        node.workerinput[_KEPT] = known_s(self._config)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather."""
        if report.when != "teardown":
            return
        for name, value in report.user_properties:
            if name == _PROPERTY:
                spent, reason, shared = cast("tuple[list[float], str | None, list[Any]]", value)
                self._add(Entry(name_of(report.nodeid), Cost(*spent), reason))
                for each, *cost in shared:
                    self._add(Entry(each, Cost(*cost), "a fixture that tests share"))

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                print(json.dumps([entry.name, *entry.cost, entry.reason]), file=file)

    def unreasoned(self) -> list[Entry]:
        """Return those of the slowest that nobody gave a reason. On a busy host nobody knows which are slow."""
        if slowness() > _BUSY:
            return []
        return [
            entry for entry in slowest(self._entries) if entry.reason is None and entry.cost.idle_s > NEEDS_REASON_S
        ]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep the costs for the next session; miss reasons where they were asked for."""
        cache = getattr(self._config, "cache", None)
        if cache is not None and self._entries:
            told = {entry.name: round(entry.cost.idle_s, 3) for entry in self._entries}
            cache.set(_KEPT, {**cache.get(_KEPT, {}), **told})
        if self._config.getoption("--reasons") and self.unreasoned() and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell of the slowest."""
        if not self._config.getoption("--slowest"):
            return
        total = NOTHING
        for entry in self._entries:
            total = total.plus(entry.cost)
        terminalreporter.section(f"the slowest {SHOWN}")
        terminalreporter.line(f"all: {total.cpu_s:.0f} s of CPU ({total.children_s:.0f} s of children)")
        for entry in slowest(self._entries):
            slow = entry.cost.idle_s > NEEDS_REASON_S
            reason = entry.reason or ('NO REASON: @pytest.mark.slow("...")' if slow else "not slow")
            terminalreporter.line(f"{entry.cost.wall_s:6.1f} s, CPU {entry.cost.cpu_s:5.1f} s  {entry.name}: {reason}")


def slowest(entries: list[Entry]) -> list[Entry]:
    """Return those that take longest."""
    return sorted(entries, key=lambda entry: -entry.cost.idle_s)[:SHOWN]


def known_s(config: pytest.Config) -> dict[str, float]:
    """Return what tests cost the last time."""
    if hasattr(config, "workerinput"):
        return dict(config.workerinput.get(_KEPT, {}))
    cache = getattr(config, "cache", None)
    return {} if cache is None else dict(cache.get(_KEPT, {}))


def name_of(nodeid: str) -> str:
    """Return a test's name without the group that xdist adds to it."""
    return re.sub(r"@[\w-]+$", "", nodeid)


def expected_s(item: pytest.Item, known: Mapping[str, float]) -> float:
    """Return what a test will cost: what it cost the last time, or what its marks make of it."""
    if item.get_closest_marker("slow") is not None:
        unknown_s = _UNKNOWN_SLOW_S
    else:
        unknown_s = _UNKNOWN_S if item.get_closest_marker("vm") is None else _UNKNOWN_VM_S
    return known.get(name_of(item.nodeid), unknown_s)


def within(items: Sequence[pytest.Item], budget_s: float, known: Mapping[str, float]) -> list[pytest.Item]:
    """Return the first tests, as long as there is time for one; a cheap one may come after one that is left out."""
    kept = []
    for item in items:
        cost_s = expected_s(item, known)
        if cost_s <= budget_s:
            kept.append(item)
            budget_s -= cost_s
    return kept


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the budget has no time for."""
    budget_s = config.getoption("--budget")
    if budget_s is None:
        return
    # There may be more workers than processors.
    workers = min(getattr(config, "workerinput", {}).get("workercount", 1), len(os.sched_getaffinity(0)))
    kept = within(items, budget_s * workers, known_s(config))
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("costs", "what each test costs")
    group.addoption("--slowest", action="store_true", help="end with the slowest tests and their reasons")
    group.addoption("--reasons", action="store_true", help="fail where one of the slowest tests has no reason")
    group.addoption("--budget", type=float, metavar="SECONDS", help="leave out tests that would take longer together")
    group.addoption("--costs", metavar="FILE", help="write what each test cost as JSON lines")


def pytest_configure(config: pytest.Config) -> None:
    """Measure in each worker, tell in the session that starts them."""
    config.pluginmanager.register(Measuring())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Telling(config))
