"""What holds for all tests, and the machine that some of them boot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts

if TYPE_CHECKING:
    from vm import Vm

# No test depends on how busy the host is: an example may take as long as it takes, and so may drawing it.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that boot the machine come first: they are the long ones, and the short ones at the end
    leave no worker idle."""
    items.sort(key=lambda item: item.get_closest_marker("vm") is None)


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
