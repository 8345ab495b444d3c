"""Fixtures of the tests of the switch's kernel code."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from machine import Boot, build_port_tool
from user_space import compiled

from fabriclab.engine.artefacts import Artefacts

HERE = Path(__file__).parent
HEADERS = HERE.parents[1] / "images/machine/kernel/tree/net/sched/switch_port"


@pytest.fixture(scope="session")
def algorithms(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The algorithm headers, compiled for the host with every check that the compiler has."""
    loaded = compiled(HERE / "algorithms.c", tmp_path_factory.mktemp("algorithms"), f"-I{HEADERS}")
    for name in ("line_time", "wred_probability", "buffer_used", "buffer_headroom", "cells", "pause_ns", "pacer_rate"):
        getattr(loaded, name).restype = ctypes.c_uint64
    for name in ("buffer_pool_shared", "buffer_pool_headroom", "buffer_pool_free"):
        getattr(loaded, name).restype = ctypes.c_uint64
    loaded.buffer_new.restype = ctypes.c_void_p
    for name in ("buffer_may_resume", "pacer_takes_in", "pacer_lets_go", "qcn_ends", "trims_for"):
        getattr(loaded, name).restype = ctypes.c_bool
    return loaded


@pytest.fixture(scope="session")
def port_tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_port_tool(tmp_path_factory.mktemp("port-tool"))


@pytest.fixture
def boot(artefacts: Artefacts, port_tool: Path, tmp_path: Path) -> Boot:
    return Boot(artefacts, port_tool, tmp_path)
