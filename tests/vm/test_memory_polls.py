"""Programs that wait in their own memory, without a system call: time goes on for them, and nothing of it is chance."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from slow_labs import SLOWLY
from small_fabrics import link, plan_of, star
from vm import Vm

import fabriclab
from fabriclab.engine.virtual import SECCOMP
from fabriclab.live.client import ask

pytestmark = pytest.mark.vm

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_spinlock_t lock;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *hold(void *unused)
{
	pthread_spin_lock(&lock);
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	pthread_spin_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t holder;
	long began;

	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	pthread_create(&holder, NULL, hold, NULL);
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	began = now_ns();
	pthread_spin_lock(&lock);
	printf("%ld\n", now_ns() - began);
	began = now_ns();
	for (volatile long i = 0; i < 200000000; i++)
		;
	printf("%ld\n", now_ns() - began);
	return 0;
}
"""
TOPOLOGY = star(link("h1:eth1", "s1:eth1"), link("h2:eth1", "s1:eth2")).replace(
    "    h1: {", "    h1: {binds: ['waits:/usr/bin/waits'], "
)
EXPERIMENT = """
title: T
switches: {default: {buffer: 64 KB}}
traffic: {p: {kind: program, node: h1, argv: [waits], output: said.txt}}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Return a lab whose program waits for a lock that another thread holds for 4 ms more, and then counts."""
    (tmp_path / "waits.c").write_text(PROGRAM)
    argv = ["cc", "-O2", "-static", "-pthread", "-o", "waits", "waits.c"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    return tmp_path


def said(run: Path) -> str:
    return (run / "output" / "said.txt").read_text()


def test_who_spins_for_a_lock_finds_it_soon_and_who_counts_takes_no_time(
    vm: Vm, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks are at most 10 us apart. In both modes of the machine's kernel the program says the same."""
    texts = []
    for mode in ("on", "off"):
        monkeypatch.setenv(SECCOMP, mode)
        assert vm.run(plan_of(lab, TOPOLOGY, EXPERIMENT), mode).status == "complete"
        texts.append(said(vm.directory / mode))
    waited_ns, counted_ns = map(int, texts[0].split())
    assert 4_000_000 <= waited_ns < 4_010_000
    assert counted_ns == 0
    assert texts[0] == texts[1]


@pytest.mark.usefixtures("in_threads")
@pytest.mark.slow("a live lab, and a run of it")
def test_who_looks_on_moves_nothing(vm: Vm, lab: Path, desk: Path) -> None:
    vm.run(plan_of(lab, TOPOLOGY, EXPERIMENT))
    with fabriclab.up(str(lab), speed=SLOWLY, out="looked-at") as live:
        live.pause()
        live.speed = "max"
        for _ in range(20):
            live.step(777_777)
            ask(live.name, {"do": "look"})
        live.step("1 s")
        live.down()
    (text,) = (path.read_text() for path in (desk / "looked-at").rglob("said.txt"))
    assert text == said(vm.directory / "run")
