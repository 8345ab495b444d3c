"""What a queue or a priority group may take: `WrittenAccount` to `Account`."""

from __future__ import annotations

from fabriclab.formats.plan.switch import Account
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.written import WrittenAccount, WrittenSwitch
from fabriclab.resolve.switch.headroom import Line
from fabriclab.resolve.switch.scale import Scale

ALPHA_LOG = 0
"""Alpha 1: SONiC's DEFAULT_LOSSLESS_BUFFER_PARAMETER (default_dynamic_th 0)."""


class AccountResolver:
    """Resolves what a queue or a group may take."""

    def __init__(self, scale: Scale, cell_bytes: int, switch: WrittenSwitch, problems: Problems) -> None:
        """Take the scale and the cells of one switch; what is wrong with it is recorded in `problems`."""
        self._scale = scale
        self._cell_bytes = cell_bytes
        self._switch = switch
        self._problems = problems

    def resolve(self, noun: str, index: int, written: WrittenAccount, line: Line, default: Account) -> Account:
        """Return the account; `default` is what holds where neither pool nor limit is written."""
        rate_bps = line.out_rate_bps
        if written.pool is None and written.alpha_log is None and written.limit is None:
            return default.model_copy(update={"reserved_bytes": self._reserved(noun, index, written, rate_bps)})
        pool = self._pool(written, default)
        limit = written.limit.value if written.limit is not None else None
        if written.limit is not None and limit is not None:
            value = Written(limit, written.limit.key, written.limit.text, written.limit.place)
            limit = self._scale.port_bytes(noun, index, "limit", value, rate_bps, line.frame_bytes)
        alpha_log = None
        if written.limit is None:
            alpha_log = ALPHA_LOG if written.alpha_log is None else written.alpha_log.value
        if pool is None and limit is None:
            self._complain_unbounded(noun, index, written)
            alpha_log, limit = None, 0
        reserved_bytes = self._reserved(noun, index, written, rate_bps)
        return Account(pool=pool, reserved_bytes=reserved_bytes, limit_bytes=limit, alpha_log=alpha_log)

    def _pool(self, written: WrittenAccount, default: Account) -> str | None:
        if written.pool is not None:
            return written.pool.value
        return default.pool if default.pool is not None else next(iter(self._switch.buffer.pools), None)

    def _reserved(self, noun: str, index: int, written: WrittenAccount, rate_bps: int) -> int:
        if written.reserved is None:
            return 0
        return self._scale.reserved_bytes(noun, index, written.reserved, rate_bps, self._cell_bytes)

    def _complain_unbounded(self, noun: str, index: int, written: WrittenAccount) -> None:
        message = f"{noun} {index} has no pool, so nothing bounds it; write limit: a size such as 64 KB"
        said = written.pool or written.limit or written.alpha_log
        if said is None:
            self._problems.add(self._switch.place, self._switch.key, message)
        else:
            said.complain(self._problems, message)
