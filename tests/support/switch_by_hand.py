"""Switches written out in full, for the rules that check them: ports alike, one or two classes,
what `check_switch` finds by rule."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.switch import (
    Account,
    Lossless,
    Pfc,
    Pool,
    PriorityGroup,
    QosMaps,
    Switch,
    SwitchPort,
    SwitchQueue,
    Wred,
)
from fabriclab.resolve.switch.checks import check_switch
from fabriclab.resolve.switch.findings import CheckedPort, SwitchFinding
from fabriclab.resolve.switch.headroom import Line

GBPS = 10**9
LINE = Line(GBPS, 5_000, GBPS, 5_000, 1500, honoured=(3,))
SHARED = Account(pool="shared", alpha_log=0)
OWN = Account(limit_bytes=1_000_000)
"""The account of a lossless class: as much as the whole memory."""
ONE_CLASS = QosMaps(dscp_to_tc=(0,) * 64)
TWO_CLASSES = QosMaps(dscp_to_tc=tuple(3 if dscp == 24 else 0 for dscp in range(64)))
LOSSLESS = Lossless(headroom_bytes=20_000, xon_bytes=3_000)


def switch(size_bytes: int = 480_000, *more: Pool, cell_bytes: int = 1) -> Switch:
    return Switch(profile="hand", cell_bytes=cell_bytes, pools=(Pool(name="shared", size_bytes=size_bytes), *more))


def queue(index: int = 0, account: Account = SHARED, **changes: object) -> SwitchQueue:
    return SwitchQueue.model_validate({"index": index, "account": account, **changes})


def wred(low: int, high: int | None = None, **changes: object) -> Wred:
    return Wred.model_validate({"min": low, "max": low if high is None else high, **changes})


def lossless_port(
    group: PriorityGroup, account: Account = OWN, maps: QosMaps = TWO_CLASSES, priorities: tuple[int, ...] = (3,)
) -> SwitchPort:
    pfc = Pfc(priorities=priorities) if priorities else None
    return SwitchPort(queues=(queue(), queue(3, account)), groups=(group,), maps=maps, pfc=pfc)


def group(account: Account = SHARED, lossless: Lossless | None = LOSSLESS) -> PriorityGroup:
    return PriorityGroup(index=3, account=account, lossless=lossless)


def check(switch: Switch, port: SwitchPort, count: int = 4, line: Line = LINE) -> Mapping[str, SwitchFinding]:
    """Return the findings of a switch of ports alike by rule."""
    findings = check_switch(switch, [CheckedPort(f"eth{number}", line, port) for number in range(1, count + 1)])
    by_rule: dict[str, SwitchFinding] = {finding.rule: finding for finding in findings}
    assert len(by_rule) == len(findings), findings
    return by_rule


GOOD = SwitchPort(queues=(queue(wred=wred(30_000)),), maps=ONE_CLASS)
