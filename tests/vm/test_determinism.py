"""The same seed gives the same bytes, whatever else the host does and wherever the run directory lies."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator

import pytest
from sample_plans import CUBIC, ROUNDS, changed, star
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue

pytestmark = pytest.mark.vm

RUNS = 10
MEASURED = ("flows.parquet", "queues.parquet", "tcp.parquet")


@pytest.fixture
def busy_host() -> Iterator[None]:
    """Two processes that take all they can get."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: sum(range(1000))"]) for _ in range(2)]
    yield
    for spinner in spinners:
        spinner.kill()
        spinner.wait()


def incast(seed: int) -> Plan:
    """Eight senders through a small buffer: losses, timeouts, and everything random that TCP has."""
    traffic = changed(
        ROUNDS, **{"senders": tuple(f"h{number}" for number in range(1, 9)), "receiver": "h9", "rounds": 3}
    )
    return star(9, transport=CUBIC, queue=Queue(limit_bytes=48_000), traffic=(traffic,), seed=seed)


def hashes(vm: Vm, name: str) -> dict[str, str]:
    return {file: hashlib.sha256((vm.directory / name / file).read_bytes()).hexdigest() for file in MEASURED}


@pytest.mark.usefixtures("busy_host")
def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(vm: Vm) -> None:
    seen = []
    for number in range(RUNS):
        # Names of several lengths: nothing inside may depend on where the run directory lies.
        name = "run" + "x" * number
        assert vm.run(incast(seed=1), name).status == "complete"
        seen.append(hashes(vm, name))
    assert seen == [seen[0]] * RUNS
    assert vm.run(incast(seed=2), "other").status == "complete"
    assert hashes(vm, "other")["flows.parquet"] != seen[0]["flows.parquet"]
