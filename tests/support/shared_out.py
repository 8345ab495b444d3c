"""How the tests are shared out among the workers of pytest-xdist.

A file of quick tests is one worker's: its tests share what fixtures made, and what was read once. Tests of the folders
below take longer than what they share, so each of them runs wherever a worker is free, but for those that name a group
(`xdist_group`). Files come in the order in which `conftest.py` sorts them, the longest first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

TEST_BY_TEST = ("fuzz", "kernel", "live", "notebooks", "vm", "wheel")
"""Folders of tests that boot machines, start kernels or build."""


def by_file(config: pytest.Config, log: object) -> Any:
    """Return what shares out whole files of quick tests, in their order: xdist would begin with those of most tests."""
    vars(config.option)["loadscopereorder"] = False
    scheduler = LoadGroupScheduling(config, log)
    group_of: Callable[[str], str] = scheduler._split_scope
    scheduler._split_scope = lambda nodeid: scope_of(nodeid, group_of(nodeid))
    return scheduler


def scope_of(nodeid: str, group: str) -> str:
    """Return what runs in one worker with a test: its group, its file, or the test alone. Without a group it is its own
    one."""
    file = nodeid.partition("::")[0]
    is_alone = any(f"tests/{folder}/" in file for folder in TEST_BY_TEST)
    return group if group != nodeid or is_alone else file
