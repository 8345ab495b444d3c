"""Fixtures of the tests that boot the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from vm import Vm

from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    try:
        return find_artefacts()
    except EngineError as error:
        pytest.skip(str(error))


@pytest.fixture
def vm(artefacts: Artefacts, tmp_path: Path) -> Vm:
    return Vm(artefacts, tmp_path)
