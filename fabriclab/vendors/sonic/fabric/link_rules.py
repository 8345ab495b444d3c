"""Rules of the two ends of a link: what keeps it down, and pauses that one end does not understand."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.finding import Severity
from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_switches import End

_ON = ("on", "true")
_DOWN = "the link does not come up"
_OF_LACP: tuple[tuple[str, str, Severity], ...] = (
    ("static", "LACP of the other end hears nothing, and takes no link into the port channel", "error"),
    ("fast_rate", "one end notices a silent link after 3 seconds, the other one after 90", "warning"),
    ("fallback", "one end forwards without LACP while the other does not", "warning"),
    ("min_links", "one end goes down with fewer links than the other, which sends on into it", "warning"),
)
"""A field of PORTCHANNEL, what comes of different values, and how bad that is (IEEE 802.1AX, 6.4; teammgrd)."""


def forward_error_correction(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link use the same FEC; with autonegotiation at both they agree on it by themselves."""
    for link in view.links:
        ours, theirs = (_field(view, end, "fec") for end in link.ends)
        if ours == theirs or all(_field(view, end, "autoneg") in _ON for end in link.ends):
            continue
        if "auto" in (ours, theirs):
            continue
        # Without an entry the chip's default applies, which the file does not say.
        severity: Severity = "error" if ours and theirs else "warning"
        yield _ends_differ(view, link, "link-fec", "fec", ours, theirs, severity)


def autonegotiation(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link negotiate its speed, or neither."""
    for link in view.links:
        for rule_field in ("autoneg", "link_training"):
            ours, theirs = (_field(view, end, rule_field) for end in link.ends)
            if (ours in _ON) != (theirs in _ON):
                severity: Severity = "error" if rule_field == "autoneg" else "warning"
                yield _ends_differ(view, link, "link-autoneg", rule_field, ours, theirs, severity)


def lanes(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link have the same number of lanes, unless a transceiver with a gearbox joins them."""
    for link in view.links:
        ours, theirs = (view.switch(end).config.ports[end.port].lanes for end in link.ends)
        if ours and theirs and ours != theirs:
            yield _ends_differ(view, link, "link-lanes", "lanes", f"{ours} lanes", f"{theirs} lanes", "warning")


def pfc(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link pause the same priorities."""
    for link in view.links:
        ours, theirs = (_priorities(view, end) for end in link.ends)
        if ours != theirs:
            near, far = (link.b, link.a) if not ours else (link.a, link.b)
            here, there = (theirs, ours) if not ours else (ours, theirs)
            only = sorted(set(here) ^ set(there))
            bound = f"PFC priorities {_numbers(there)} at the other end, {far} ({_place(view, far, 'pfc_enable')})"
            fate = f"pauses of priority {listed(list(map(str, only)))} are sent by one end and ignored by the other"
            path = ("PORT_QOS_MAP", near.port, "pfc_enable")
            both = view.has_pfc(near.switch) and view.has_pfc(far.switch)
            severity: Severity = "error" if both else "warning"
            remedy, value = "write the same at both", _numbers(here)
            one = finding("link-pfc", path, value, f"not the {bound}", fate, remedy, (near.port,), severity)
            yield FabricFinding(near.switch, one)


def cable_lengths(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link say one length of its cable, from which SONiC computes headroom."""
    for link in view.links:
        ours, theirs = (view.switch(end).config.cable_metres.get(end.port) for end in link.ends)
        if ours is None or theirs is None or ours == theirs:
            continue
        near, far = link.ends
        config = view.switch(near).config
        path = ("CABLE_LENGTH", next(iter(entries(config, "CABLE_LENGTH")), ""), near.port)
        place = view.switch(far).config.place(
            "CABLE_LENGTH", next(iter(entries(view.switch(far).config, "CABLE_LENGTH")), ""), far.port
        )
        bound = f"not {theirs} m, as the other end, {far}, says ({place})"
        fate = "headroom is computed for another cable at one of the ends: it is too small, or takes memory from others"
        one = finding("link-cable", path, f"{ours} m", bound, fate, "write the cable's length at both", (near.port,))
        yield FabricFinding(near.switch, one)


def lacp(view: View) -> Iterator[FabricFinding]:
    """The port channels at both ends of a link use LACP alike."""
    told: set[tuple[str, str]] = set()
    for link in view.links:
        names = [view.switch(end).channel_of.get(end.port) for end in link.ends]
        if names[0] is None or names[1] is None or (link.a.switch, names[0]) in told:
            continue
        told.add((link.a.switch, names[0]))
        for name, fate, severity in _OF_LACP:
            ours, theirs = (
                _of_channel(view, end, channel or "", name) for end, channel in zip(link.ends, names, strict=True)
            )
            if ours != theirs:
                near, far = (0, 1) if ours else (1, 0)
                end, other = link.ends[near], link.ends[far]
                path = ("PORTCHANNEL", names[near] or "", name)
                place = view.switch(other).config.place("PORTCHANNEL", names[far] or "")
                bound = f"not what {other.switch}:{names[far]} has: {(ours, theirs)[far] or 'nothing'} ({place})"
                one = finding(
                    "link-lacp", path, (ours, theirs)[near], bound, fate, "write the same at both", (), severity
                )
                yield FabricFinding(end.switch, one)


def _of_channel(view: View, end: End, channel: str, name: str) -> str:
    value = entries(view.switch(end).config, "PORTCHANNEL").get(channel, {}).get(name)
    text = value.strip().lower() if isinstance(value, str) else ""
    return "" if text in ("false", "off") else text


def _numbers(priorities: tuple[int, ...]) -> str:
    return ",".join(map(str, priorities)) or "none"


def _priorities(view: View, end: End) -> tuple[int, ...]:
    qos = view.switch(end).config.port_qos
    entry = qos.get(end.port) or qos.get("global")
    return () if entry is None else tuple(sorted(entry.pfc_enable or ()))


def _field(view: View, end: End, name: str) -> str:
    value = entries(view.switch(end).config, "PORT").get(end.port, {}).get(name, "")
    return value.strip().lower() if isinstance(value, str) else ""


def _place(view: View, end: End, name: str) -> str:
    table = "PORT_QOS_MAP" if name == "pfc_enable" else "PORT"
    return str(view.switch(end).config.place(table, end.port, name))


def _ends_differ(
    view: View, link: FabricLink, rule: str, name: str, ours: str, theirs: str, severity: Severity
) -> FabricFinding:
    """Return a finding at the end where the field is written, or at the first one."""
    near, far, here, there = (link.a, link.b, ours, theirs) if ours else (link.b, link.a, theirs, ours)
    value = here if rule == "link-lanes" else f"{name} {here}"
    bound = f"not what the other end, {far}, has: {there or 'nothing'} ({_place(view, far, name)})"
    fate = _DOWN if severity == "error" else f"{_DOWN} unless what is written agrees with the other end's default"
    if rule == "link-lanes":
        fate = f"{_DOWN} unless a transceiver converts between them"
    path = ("PORT", near.port, name)
    one = finding(rule, path, value, bound, fate, "write the same at both", (near.port,), severity)
    return FabricFinding(near.switch, one)


LINK_RULES = (forward_error_correction, autonegotiation, lanes, pfc, cable_lengths, lacp)
