"""What holds for all tests, and the machine that some of them boot."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from patience import calibrate, patient

from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts
from fabriclab.lab.setup import frr_versions

if TYPE_CHECKING:
    from vm import Vm

pytest_plugins = ["costs", "live_fixtures", "page_fixtures"]
TESTS = Path(__file__).parent
LONGEST_ID = 100
LONG_FOLDERS = ("fuzz", "house", "kernel", "notebooks", "vm", "wheel")

# A shell that runs the tests in the background lets them, and so all that they start, ignore Ctrl-C: a program that a
# test ends by it would go on, and the test wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test depends on how busy the host is: an example may take as long as it takes, and so may drawing it.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Find out how slow the host is before workers are started: bounds on waiting follow it, a test's as well."""
    if config.pluginmanager.hasplugin("timeout") and config.getoption("timeout", None) is None:
        # Twice as long at most: one that hangs shall be told today.
        limit_s = float(config.getini("timeout") or 0)
        config.option.timeout = min(patient(limit_s), 2 * limit_s)


def pytest_report_header() -> str | None:
    """Say that the host is busy."""
    return f"patience: {calibrate():.1f} times an idle host's" if calibrate() > 1.5 else None


def pytest_make_parametrize_id(val: object) -> str | None:
    """Keep a long text out of a test's name: it is sent to every worker and back, and stands in the environment."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_ID:
        start = val[:20] if isinstance(val, str) else val[:20].decode("latin-1")
        return f"{start.encode('unicode_escape').decode('ascii')}...{len(val)}"
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A worker more for each two processors: a test that boots machines or starts programs waits for them half its
    time."""
    processors = len(os.sched_getaffinity(0))
    return processors + processors // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Share out whole files of quick tests, where groups of tests are shared out."""
    if config.getoption("dist") != "loadgroup":
        return None
    from shared_out import by_file

    return by_file(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: nearly all that imports and collection make stays, and to look through it again
    and again took a seventh of their time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files that take longest come first: the short ones at the end leave no worker idle. A file stays together, for
    its tests may share what a fixture made, and that of quick tests in one worker (shared_out.py). Coverage is of what
    is quick: it would double the time of those that run much code many times over, and of their code the others leave
    little out."""
    from costs import expected_s, known_s  # A plugin: pytest is the first to import it.

    known = known_s(config)
    takes: defaultdict[Path, float] = defaultdict(float)
    for item in items:
        takes[item.path] += expected_s(item, known)
    if config.getoption("--budget") is None:
        items.sort(key=lambda item: -takes[item.path])
    for item in items:
        if is_long(item):
            item.add_marker("no_cover")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell of a failure as it happens, in what the session prints: if it is ended from outside, no summary comes."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\n{report.nodeid} failed ({report.when}):\n{report.longreprtext}\n", flush=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take what libraries do out of the trace, once it is known which of them the tests use.

    Tests that share something run one after the other, in one worker, by their mark xdist_group. Where pytest-xdist and
    pytest do not fit together it groups none, and says nothing: then this is an error.
    """
    if getattr(session.config.option, "loadgroup", False):
        grouped = next((item for item in session.items if item.get_closest_marker("xdist_group")), None)
        if grouped is not None and "@" not in grouped.nodeid:
            raise pytest.UsageError(f"pytest-xdist does not group tests with pytest {pytest.__version__} (make venv)")
    from commands_once import make_commands_once
    from untraced import trace_no_libraries

    trace_no_libraries()
    make_commands_once()
    # All that is loaded by now stays until the end: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    # What tests make has few cycles: it need not look for them each 700 objects.
    gc.set_threshold(20_000, 20, 20)


def is_long(item: pytest.Item) -> bool:
    """Return whether a test boots the machine, starts kernels, builds wheels, draws its examples by the hundred, or
    reads every file of the repository.

    A few others carry the mark no_cover themselves; `covered` says that one counts all the same.
    """
    if item.get_closest_marker("covered") is not None:
        return False
    folder = item.path.relative_to(TESTS).parts[0]
    drawn = is_hypothesis_test(getattr(item, "function", None))
    return item.get_closest_marker("vm") is not None or folder in LONG_FOLDERS or drawn


@pytest.fixture(scope="session", autouse=True)
def shared_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give fixtures that several tests share a state directory: what the user trusts is neither known nor changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def state_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield paths of state directories: pytest's own way to number them looks at all that are there, for each test."""
    place = tmp_path_factory.mktemp("states")
    return (place / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_state(state_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test the place of a state directory of its own, in which nothing is trusted yet."""
    place = next(state_homes)
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    return place


@pytest.fixture(autouse=True)
def own_frr(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test without the machine depend on which versions of FRR were built on this host."""
    if request.node.get_closest_marker("vm") is None:
        monkeypatch.setattr(frr_versions, "_asked", [])


@pytest.fixture
def state_home(own_state: Path) -> Path:
    """Return the test's state directory, which is there."""
    own_state.mkdir()
    return own_state


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    """Count the tests' directories."""
    return count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, numbers: Iterator[int]) -> Path:
    """Return a directory named after the test. pytest looks at all that are there for the next number."""
    name = re.sub(r"\W", "_", request.node.name)[:26]
    place = tmp_path_factory.getbasetemp() / f"{name}-{next(numbers)}"
    place.mkdir(mode=0o700)
    return place


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    try:
        return find_artefacts()
    except EngineError as error:
        pytest.skip(str(error))  # The machine is not built; the message names the command that builds it.


@pytest.fixture
def vm(artefacts: Artefacts, tmp_path: Path) -> Vm:
    from vm import Vm  # It imports most of fabriclab: only tests that boot the machine wait for that.

    return Vm(artefacts, tmp_path)
