"""The same seed gives the same bytes, whatever else the host does and wherever the run directory lies."""

from __future__ import annotations

import contextlib
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


@contextlib.contextmanager
def busy_host() -> Iterator[None]:
    """Two processes that take all they can get."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: sum(range(1000))"]) for _ in range(2)]
    try:
        yield
    finally:
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


@pytest.mark.slow("runs a lab eleven times with all its tables, every second time beside two busy processes")
def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(vm: Vm) -> None:
    seen = []
    for number in range(RUNS):
        # Names of several lengths: nothing inside may depend on where the run directory lies.
        name = "run" + "x" * number
        # Neither may it depend on what else the host does.
        with busy_host() if number % 2 else contextlib.nullcontext():
            assert vm.run(incast(seed=1), name).status == "complete"
        seen.append(hashes(vm, name))
    assert seen == [seen[0]] * RUNS
    assert vm.run(incast(seed=2), "other").status == "complete"
    assert hashes(vm, "other")["flows.parquet"] != seen[0]["flows.parquet"]


DRAWN = {"name": "draws", "node": "h1", "argv": ["/bin/sh", "-c", "sleep 1.2; od -An -tx8 -N16 /dev/urandom"]}
"""What it draws is of a key that the kernel has taken anew, which it does a second after its start."""


def test_who_only_watches_moves_no_number_whenever_it_starts(vm: Vm) -> None:
    """Not only what a program draws may move the numbers of others: each one's start and end did, as each driver's
    start in the kernel did, from the first new key on."""
    drawn = []
    for sampled in (False, True):
        name = f"sampled-{sampled}"
        assert vm.boot(star(), [DRAWN], name, sampled=sampled).status == "complete"
        drawn.append((vm.directory / name / "logs" / "draws.log").read_text())
    assert drawn[0].strip() and drawn[0] == drawn[1]
