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


LINK_RULES = (forward_error_correction, autonegotiation, lanes, pfc)
