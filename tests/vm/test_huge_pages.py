"""The machine's memory lies in huge pages of the host where it has some; nobody inside can tell."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest
from sample_plans import CUBIC, ROUNDS, changed, star
from vm import Vm

from fabriclab.engine.events import Event

pytestmark = pytest.mark.vm

SHARED = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
FIRST_KERNEL = (6, 1)
"""Of Linux that has MADV_COLLAPSE."""
HUGE_PAGE_BYTES = 2 << 20


def skip_without_huge_pages() -> None:
    version = tuple(int(number) for number in re.findall(r"\d+", platform.release())[:2])
    if version < FIRST_KERNEL or not SHARED.exists() or "[deny]" in SHARED.read_text():
        pytest.skip(f"Linux {platform.release()} of this host gives no huge pages of shared memory to who asks")


def mapped_in_huge_pages(kernel: Path, run_directory: Path) -> int:
    """Return how many bytes the processes of a run's machine see in huge pages, at the most."""
    most = 0
    for process in Path("/proc").iterdir():
        try:
            if str(run_directory) in (process / "cmdline").read_text() and (process / "exe").readlink() == kernel:
                found = re.search(r"^ShmemPmdMapped: +(\d+) kB$", (process / "smaps_rollup").read_text(), re.M)
                most = max(most, int(found[1]) << 10 if found else 0)
        except OSError:
            continue  # no process, or one that has ended, or that only its parent may look at
    return most


def test_memory_is_in_huge_pages(vm: Vm) -> None:
    skip_without_huge_pages()
    seen = []

    def look(event: Event) -> None:
        if event.name == "epoch":
            seen.append(mapped_in_huge_pages(vm.artefacts.kernel, vm.directory / "run"))

    traffic = changed(ROUNDS, senders=("h1", "h2", "h3"), receiver="h4", rounds=2)
    assert vm.run(star(4, transport=CUBIC, traffic=(traffic,)), on_event=look).status == "complete"
    assert seen[0] >= 8 * HUGE_PAGE_BYTES, "what the kernel had allocated when the traffic began"
