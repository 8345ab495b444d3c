"""What SONiC's own templates write: a finding about it says so."""

from __future__ import annotations

from dataclasses import replace

from fabriclab.formats.finding import Severity
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding

_WRED = frozenset(
    {
        (1_048_576, 2_097_152),  # sonic-buildimage, files/build_templates/qos_config.j2
        (250_000, 2_097_152),  # NVIDIA's qos.json.j2
        (2_000_000, 10_000_000),  # Arista 7260CX3, qos.json.j2
        (131_072, 262_144),  # Marvell's qos.json.j2
        (166_912, 239_616),  # NVIDIA SN5600 and SN5640, qos.json.j2
        (166_912, 282_624),  # Arista 7060X6, qos.json.j2
        (136_200_192, 136_200_192),  # NVIDIA SN5640, of queues that hold all of the memory
        (158_220_288, 158_220_288),
        (224_140_416, 224_140_416),
        (266_338_050, 266_338_050),
    }
)
"""Minimum and maximum thresholds of WRED, for green, in bytes (2026-08-23)."""
_OF_WRED = frozenset(
    {"wred-unreachable-when-busy", "wred-above-xoff", "wred-above-ingress-limit", "wred-max-unreachable"}
)


def as_shipped(found: SonicFinding, bindings: Bindings) -> SonicFinding:
    """Return a finding with a word on it where the value is that of a template."""
    config = bindings.config
    if found.rule in _OF_WRED and found.path[:1] == ("WRED_PROFILE",) and len(found.path) > 1:
        profile = config.wred_profiles.get(found.path[1])
        if profile is not None and (profile.min_threshold, profile.max_threshold) in _WRED:
            severity: Severity = "warning" if found.severity == "error" else found.severity
            return replace(_said(found), severity=severity)
    if found.rule == "pfc-lossy-group" and _has_nothing_lossless(bindings):
        # qos_config.j2 enables PFC whatever the platform's buffers are (Marvell's).
        return replace(_said(found), severity="warning")
    return found


def _said(found: SonicFinding) -> SonicFinding:
    return replace(found, consequence=f"{found.consequence}; as SONiC ships it")


def _has_nothing_lossless(bindings: Bindings) -> bool:
    pools, profiles = bindings.config.pools, bindings.config.profiles.values()
    return "ingress_lossless_pool" not in pools and not any(profile.xoff for profile in profiles)
