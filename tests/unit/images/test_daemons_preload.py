"""What is loaded into FRR's daemons, with a library in FRR's place."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from repository import ROOT

LIBRARY = """
#include <stddef.h>
#include <stdio.h>

/* Nobody is there four times, then somebody. */
int mgmt_msg_connect(const char *path, size_t send_bytes, size_t receive_bytes, const char *name)
{
	static int attempts;

	return ++attempts > 4 ? 3 : -1;
}

void _event_add_timer_msec(const void *caller, void *loop, void *function, void *argument, long ms, void *event)
{
	printf("%ld ", ms);
}
"""
DAEMON = """
#include <stddef.h>

int mgmt_msg_connect(const char *, size_t, size_t, const char *);
void _event_add_timer_msec(const void *, void *, void *, void *, long, void *);

int main(void)
{
	for (int attempt = 0; attempt < 5; attempt++) {
		if (mgmt_msg_connect("mgmtd", 0, 0, "") < 0)
			_event_add_timer_msec(NULL, NULL, NULL, NULL, 250, NULL);
		_event_add_timer_msec(NULL, NULL, NULL, NULL, 7, NULL);
	}
	return 0;
}
"""


@pytest.fixture
def daemon(tmp_path: Path) -> list[str]:
    """Return a command: a program over a library with two of FRR's functions, behind what is preloaded."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("no C compiler: who has a built machine needs none")
    for name, text in (("frr.c", LIBRARY), ("daemon.c", DAEMON)):
        (tmp_path / name).write_text(text)
    shared = [compiler, "-shared", "-fPIC", "-o"]
    frr, preload = tmp_path / "libfrr.so", tmp_path / "daemons.so"
    subprocess.run([*shared, frr, tmp_path / "frr.c"], check=True)
    subprocess.run([*shared, preload, ROOT / "images/machine/preload/daemons.c"], check=True)
    program = tmp_path / "daemon"
    subprocess.run([compiler, "-o", program, tmp_path / "daemon.c", frr, f"-Wl,-rpath,{tmp_path}"], check=True)
    return ["env", f"LD_PRELOAD={preload}", str(program)]


def test_who_is_not_there_is_asked_for_less_and_less(daemon: list[str]) -> None:
    said = subprocess.run(daemon, check=True, capture_output=True, text=True).stdout
    assert said.split() == ["250", "7", "500", "7", "1000", "7", "2000", "7", "7"], "other timers stay as they are"
