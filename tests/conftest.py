"""What holds for all tests."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# No test depends on how busy the host is: an example may take as long as it takes, and so may drawing it.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that boot the machine come first: they are the long ones, and the short ones at the end leave no worker idle."""
    items.sort(key=lambda item: item.get_closest_marker("vm") is None)
