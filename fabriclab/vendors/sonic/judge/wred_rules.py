"""Rules of WRED_PROFILE. That a queue can be as long as its thresholds ask is `threshold_checks`'s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.pfc_rules import lossless_queues
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.read.config_db import WredProfile
from fabriclab.vendors.sonic.read.entries import FieldValue

_COLOURS = ("green", "yellow", "red")


def wred_profiles(bindings: Bindings) -> Iterator[SonicFinding]:
    """Yield what is wrong with each WRED profile by itself."""
    written = entries(bindings.config, "WRED_PROFILE")
    for profile in bindings.config.wred_profiles.values():
        yield from _enabled(profile, written.get(profile.name, {}))
        yield from _complete(profile)
        yield from _inverted(profile.name, written.get(profile.name, {}))


def _enabled(profile: WredProfile, said: Mapping[str, FieldValue]) -> Iterator[SonicFinding]:
    path = ("WRED_PROFILE", profile.name, "ecn")
    if profile.marks and not profile.enabled:
        bound = "without wred_green_enable true (SAI's default is false)"
        fate = "NOTHING IS EVER MARKED: ECN is part of WRED, which is off; queues grow to their limit and drop"
        remedy, written = 'write "wred_green_enable": "true"', said.get("wred_green_enable")
        if written == "false":
            # So NVIDIA ships some (SN5600, qos.json.j2): its SAI marks without dropping.
            bound, remedy = "beside wred_green_enable false", "ask the chip's vendor, or write true"
            fate = "the chip's SAI decides whether ECN marks: if ECN is part of WRED there, nothing is ever marked"
            yield finding("ecn-without-wred", path, profile.ecn, bound, fate, remedy, severity="warning")
        else:
            yield finding("ecn-without-wred", path, profile.ecn, bound, fate, remedy)
    elif profile.enabled and profile.drop_probability == 0 and profile.min_threshold != profile.max_threshold:
        bound, fate = (
            "no valid probability",
            "nothing is marked or dropped below the maximum threshold, where the curve has a step",
        )
        path = ("WRED_PROFILE", profile.name, "green_drop_probability")
        yield finding("wred-without-probability", path, "0", bound, fate, "write one, such as 5")
    elif not profile.marks and profile.ecn != "ecn_none":
        bound, fate = (
            "only for colours that a meter assigns",
            "frames without a meter are green, and green frames are dropped, not marked",
        )
        yield finding("ecn-without-green", path, profile.ecn, bound, fate, "write ecn_all")


def _complete(profile: WredProfile) -> Iterator[SonicFinding]:
    for name, value in (("green_min_threshold", profile.min_threshold), ("green_max_threshold", profile.max_threshold)):
        if profile.enabled and not value and (value is None or name == "green_max_threshold"):
            path = ("WRED_PROFILE", profile.name, name)
            bound = (
                "missing, although wred_green_enable is true"
                if value is None
                else "the length above which every frame is marked or dropped"
            )
            fate = "SAI's default is 0: every frame is marked or dropped"
            yield finding("wred-without-threshold", path, value, bound, fate, "write it in bytes")


def _inverted(key: str, values: Mapping[str, FieldValue]) -> Iterator[SonicFinding]:
    for colour in _COLOURS:
        names = f"{colour}_min_threshold", f"{colour}_max_threshold"
        low, high = (_number(values.get(name)) for name in names)
        if low is not None and high is not None and low > high:
            bound = f"above {names[1]}, {high} B"
            fate = "the chip refuses the profile; older versions of orchagent exit (sonic-swss#579)"
            yield finding(
                "wred-inverted",
                ("WRED_PROFILE", key, names[0]),
                f"{low} B",
                bound,
                fate,
                "write the smaller one as the minimum",
            )


def _number(value: FieldValue | None) -> int | None:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20 else None


def below_frame(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """A threshold that is below a frame is one in KB."""
    for port in ports:
        for index in sorted(bindings.queues.get(port.name, {})):
            profile = bindings.wred(port.name, index)
            high = None if profile is None or not profile.enabled else profile.max_threshold
            if profile is not None and high and high < port.line.frame_bytes:
                bound = f"less than a frame, {port.line.frame_bytes} B"
                fate = "every frame that has to wait is marked or dropped; is it in KB?"
                path = ("WRED_PROFILE", profile.name, "green_max_threshold")
                yield finding("wred-below-frame", path, f"{high} B", bound, fate, "write bytes", (port.name,))


def lossless_drops(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """WRED of a queue of a lossless class without ECN drops what PFC was to save."""
    for port in ports:
        queues: dict[str, list[int]] = {}
        for index in sorted(lossless_queues(port)):
            profile = bindings.wred(port.name, index)
            if profile is not None and profile.enabled and not profile.marks:
                queues.setdefault(profile.name, []).append(index)
        for name, indices in queues.items():
            profile = bindings.config.wred_profiles[name]
            bound = f"without ECN for green, although queues {number_ranges(indices)} belong to lossless classes"
            fate = (
                f"above {profile.min_threshold or 0} B frames of these classes are dropped, before PFC pauses a "
                "neighbour"
            )
            path = ("WRED_PROFILE", name, "ecn")
            yield finding("wred-drops-lossless", path, profile.ecn, bound, fate, "write ecn_all", (port.name,))
