"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No test depends on how busy the host is: an example may take as long as it takes, and so may drawing it.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
