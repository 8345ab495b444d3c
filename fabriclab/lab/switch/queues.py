"""`queues` and `priority_groups` of a switch: what leaves by a port, and what came in there."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.section import Section
from fabriclab.lab.switch import queue_keys as keys
from fabriclab.lab.switch.numbered_sections import read_numbered
from fabriclab.lab.switch.sharing import read_sharing, read_unscheduled_classes
from fabriclab.lab.switch.written import (
    Numbered,
    WrittenAccount,
    WrittenCongestionPoint,
    WrittenGroup,
    WrittenPhantom,
    WrittenQueue,
    WrittenWred,
)


def read_queues(section: Section, own: Mapping[str, str]) -> Numbered[WrittenQueue]:
    """Return the queues by number. `own`: the policies of the user's own C files, by file."""

    def read(key: str) -> WrittenQueue | None:
        queue = section.section(key, keys.QUEUE)
        return None if queue is None else _read_queue(queue, own)

    return read_numbered(section, "queue", read)


def read_groups(section: Section) -> Numbered[WrittenGroup]:
    """Return the groups by number."""

    def read(key: str) -> WrittenGroup | None:
        group = section.section(key, keys.GROUP)
        return None if group is None else group.fill(WrittenGroup, keys.GROUP, account=_read_account(group))

    return read_numbered(section, "group", read)


def _read_queue(section: Section, own: Mapping[str, str]) -> WrittenQueue:
    return section.fill(
        WrittenQueue,
        keys.QUEUE,
        account=_read_account(section),
        sharing=read_sharing(section, own),
        unscheduled_classes=read_unscheduled_classes(section),
        wred=read_part(section, "wred", keys.WRED, _read_wred, WrittenWred(is_none=True)),
        phantom=read_part(section, "phantom", keys.PHANTOM, _read_phantom, WrittenPhantom(is_none=True)),
        qcn=read_part(section, "qcn", keys.CONGESTION_POINT, _read_point, WrittenCongestionPoint(is_none=True)),
    )


def _read_account(section: Section) -> WrittenAccount:
    """Return what a queue or a group may take of the memory: a pool, reserved bytes, and a limit, static or dynamic."""
    account = section.fill(WrittenAccount, keys.QUEUE, alpha_log=section.read(keys.ACCOUNT_ALPHA))
    if account.alpha_log is not None and account.limit is not None:
        section.complain(
            "alpha", "conflicts with limit; write alpha (dynamic, a share of the pool's free memory) or limit (static)"
        )
    return account


def _read_wred(section: Section) -> WrittenWred:
    return section.fill(
        WrittenWred,
        keys.WRED,
        probability_ppm=section.read(keys.WRED_PROBABILITY),
        weight_log=section.read(keys.WRED_WEIGHT),
    )


def _read_phantom(section: Section) -> WrittenPhantom:
    return section.fill(WrittenPhantom, keys.PHANTOM, rate_ppm=section.read(keys.PHANTOM_RATE))


def _read_point(section: Section) -> WrittenCongestionPoint:
    return section.fill(WrittenCongestionPoint, keys.CONGESTION_POINT)
