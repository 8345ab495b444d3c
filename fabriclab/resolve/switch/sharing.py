"""How a queue shares its pool: `WrittenQueue` to `Sharing`, and to the account where the pool itself is the limit."""

from __future__ import annotations

from fabriclab.formats.plan.switch import Account, Sharing
from fabriclab.lab.switch import queue_keys as keys
from fabriclab.lab.switch.written import WrittenQueue


def resolve_sharing(written: WrittenQueue, account: Account) -> tuple[Account, Sharing | None]:
    """Return what a queue may take, and the policy that decides; None: the account alone does.

    A queue without a pool, such as one of a lossless class, keeps its memory where nothing is written for it.
    """
    how = written.sharing
    if how is None or how.value == "dynamic" or account.pool is None:
        return account, None
    if how.value == "complete":
        return account.model_copy(update={"alpha_log": None, "limit_bytes": None}), None
    return account, None if account.alpha_log is None else _policy(how.value, written)


def _policy(policy: str, written: WrittenQueue) -> Sharing:
    classes = () if written.unscheduled_classes is None else written.unscheduled_classes.value
    return Sharing(
        policy=policy,
        interval_ns=keys.QUEUE_SHARING_INTERVAL.or_default(written.sharing_interval),
        congested_bytes=None if written.sharing_congested is None else written.sharing_congested.value,
        unscheduled_alpha_log=keys.QUEUE_UNSCHEDULED_ALPHA.or_default(written.unscheduled_alpha) if classes else 0,
        unscheduled_classes=classes,
    )
