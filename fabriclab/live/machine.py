"""The machine of a live lab as its server sees it: inputs one after the other, outputs to their sessions, the pace.

One input at most is on its way: the machine takes it when it is idle and says where, and that is written down before
the next. Whoever has more to say waits in line. A program that never sleeps is made to by the machine, which says
where; a replay gives these naps in line with the inputs.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from fabriclab.formats.live import FOR_EVER, Answer, Request, Stop
from fabriclab.formats.live_break import VALUE
from fabriclab.formats.speed import Speed, kernel_speed
from fabriclab.live.busy import Busy
from fabriclab.live.pace import Ratio
from fabriclab.live.recording import Nap, Outputs, Taken
from fabriclab.live.wire import (
    DATA_MAX,
    HEADER_BYTES,
    Frame,
    Head,
    WireError,
    frame,
    nap_message,
    parse_frame,
    parse_head,
    parse_nap,
    request,
)

OnOutput = Callable[[Frame], None]
OnTaken = Callable[[Taken | Nap], None]

Place = tuple[int, int] | None
"""So many timer events and an instant; None: wherever the machine is when it is idle."""

_BUFFER_BYTES = 1 << 17
_LOW = 0xFFFFFFFF
_LONGEST_LINE = 64
"""So many inputs wait for their turn; who has one more waits to get into the line."""
_MOST_LOOKS = 16
"""So many looks are on their way; who asks for one more waits until one is answered."""


class MachineGone(Exception):  # noqa: N818 - it says what happened
    """The machine has ended, or does not follow its recording; the text says which."""


class _Waiting(NamedTuple):
    """An input in line, or a recording's nap."""

    what: Frame | Nap
    message: bytes
    taken: asyncio.Future[Any]


class Seen(NamedTuple):
    """What a look saw."""

    instant_ns: int
    records: bytes
    """As `include/uapi/linux/fabriclab_live.h` has them (`struct live_record`)."""


class Broke(NamedTuple):
    """A condition that stopped the clock."""

    number: int
    value: int
    """What it compares, as it was when it came true."""


class _Look:
    """A look that is on its way, and what has come of it."""

    def __init__(self) -> None:
        self.records = bytearray()
        self.seen: asyncio.Future[Seen] = asyncio.get_running_loop().create_future()


class LiveMachine:
    """Speaks with the kernel of one machine. All of it belongs to one event loop."""

    def __init__(
        self,
        end: socket.socket,
        on_output: OnOutput,
        on_taken: OnTaken,
        speed: Speed = Fraction(1),
        *,
        replays: bool = False,
    ) -> None:
        """Take our end of the machine's socket, and whom to tell of outputs, and of inputs and naps that were taken.

        `replays`: no event happens before it is said which input comes next (`replaying`).
        """
        if replays:  # The machine finds it there when it begins.
            end.sendall(request(Request.REPLAY, 1))
        self._end = end
        self._on_output = on_output
        self._on_taken = on_taken
        self._line: asyncio.Queue[_Waiting] = asyncio.Queue(_LONGEST_LINE)
        self._given: _Waiting | None = None
        self._stops: dict[Stop, list[asyncio.Future[int]]] = {why: [] for why in Stop}
        self._looks: deque[_Look] = deque()
        self._conditions: set[int] = set()
        self._may_look = asyncio.Semaphore(_MOST_LOOKS)
        self._writer: asyncio.StreamWriter | None = None
        self._gone: MachineGone | None = None
        self.outputs = Outputs()
        self.speed = speed
        self.ratio = Ratio()
        self.busy = Busy()
        self.is_up = asyncio.Event()
        """Set when PID 1 has let the host look for the first time: the lab is up, and time stands still."""
        self.is_stopped = False
        self.broke: Broke | None = None
        """Which condition stopped the clock, while it stands still."""
        self._has_begun = asyncio.Event()
        self._has_ended = asyncio.Event()
        self._instant_ns = 0
        self._at_wall_ns = 0

    @property
    def instant_ns(self) -> int:
        """The virtual instant as far as it is known, in nanoseconds since the machine was switched on."""
        return self._instant_ns

    async def follow(self) -> None:
        """Read what the machine says until it has ended. Nobody waits in vain after that."""
        reader, self._writer = await asyncio.open_connection(sock=self._end, limit=_BUFFER_BYTES)
        self._has_begun.set()
        giving = asyncio.create_task(self._give())
        try:
            while True:
                head = parse_head(await reader.readexactly(HEADER_BYTES))
                payload = await reader.readexactly(head.length) if head.length else b""
                self._heard(head, payload)
        except (asyncio.IncompleteReadError, OSError):
            self._end_all(MachineGone("the virtual machine has ended"))
        except (WireError, ValueError) as error:
            self._end_all(MachineGone(f"the virtual machine broke the protocol: {error}"))
        except MachineGone as gone:
            self._end_all(gone)
        finally:
            giving.cancel()
            self._end_all(MachineGone("the virtual machine has ended"))
            self._writer.close()

    def _heard(self, head: Head, payload: bytes) -> None:
        match Answer(head.kind):
            case Answer.OUTPUT:
                self.outputs.add(payload)
                self._on_output(parse_frame(payload))
            case Answer.TAKEN:
                self._took(head.a, head.b)
            case Answer.NAPPED:
                self._napped(head, payload)
            case Answer.CHARGED:
                self.busy.told(*parse_nap(payload)[3:])
            case Answer.CLOCK:
                # Time goes: it was let go on while word of a stop was on its way here.
                self.is_stopped, self.broke = False, None
                self._at(head.a, head.b)
                self.ratio.told(head.b, head.a)
            case Answer.STOPPED:
                self._stopped(head.a, Stop(head.b & _LOW), head.b >> 32, payload)
            case Answer.LOOKED:
                self._looked(head, payload)
            case Answer.DIVERGED:
                raise MachineGone(
                    f"the replay differs from the recording: after {head.a} timer events it is at {head.b} ns, where "
                    "the next input can't be taken"
                )

    def _at(self, instant_ns: int, wall_ns: int | None = None) -> None:
        self._instant_ns = max(self._instant_ns, instant_ns)
        self._at_wall_ns = time.monotonic_ns() if wall_ns is None else wall_ns

    def _took(self, events: int, instant_ns: int) -> None:
        self._at(instant_ns)
        given, self._given = self._given, None
        if given is None or not isinstance(given.what, Frame):
            raise WireError("the virtual machine took an input that was not sent")
        self._record(given, Taken(events, instant_ns, given.what, self.outputs.digest))

    def _napped(self, head: Head, payload: bytes) -> None:
        self._at(head.b)
        nap = Nap(head.a, head.b, *parse_nap(payload), self.outputs.digest)
        self.busy.told(nap.program, nap.node)
        given = None
        if self._given is not None and isinstance(self._given.what, Nap):
            given, self._given = self._given, None
        self._record(given, nap)

    def _record(self, given: _Waiting | None, taken: Taken | Nap) -> None:
        self._on_taken(taken)
        if given is not None and not given.taken.done():
            given.taken.set_result(taken)

    def _stopped(self, instant_ns: int, why: Stop, number: int, payload: bytes) -> None:
        self._at(instant_ns)
        self.is_stopped = True
        self.ratio.forget()
        if why is Stop.BY_INIT:
            self.is_up.set()
        if why is Stop.BREAK:
            self.broke = self.broke or Broke(number, struct.unpack(VALUE, payload)[0])
        # Who waits for another stop need not wait any longer.
        for kind in Stop if why is Stop.BREAK else (why,):
            waiting, self._stops[kind] = self._stops[kind], []
            for future in waiting:
                if not future.done():
                    future.set_result(instant_ns)

    def _looked(self, head: Head, payload: bytes) -> None:
        if not self._looks:
            raise WireError("the virtual machine answered a request that was not made")
        look = self._looks[0]
        look.records += payload
        if head.b:
            return
        self._looks.popleft()
        if not look.seen.done():
            look.seen.set_result(Seen(head.a, bytes(look.records)))

    def _end_all(self, gone: MachineGone) -> None:
        if self._gone is not None:
            return
        self._gone = gone
        waiting: list[asyncio.Future[Any]] = [future for futures in self._stops.values() for future in futures]
        waiting += [] if self._given is None else [self._given.taken]
        waiting += [look.seen for look in self._looks]
        while not self._line.empty():
            waiting.append(self._line.get_nowait().taken)
        for future in waiting:
            if not future.done():
                future.set_exception(gone)
                future.exception()  # Whoever waits is told; where nobody does, nothing is to be said of it.
        self.is_up.set()
        self._has_ended.set()

    @property
    def gone(self) -> MachineGone | None:
        """Why nothing more can be asked of the machine; None while it runs."""
        return self._gone

    async def begun(self) -> None:
        """Wait until the machine can be spoken to."""
        await self._has_begun.wait()

    async def ended(self) -> None:
        """Wait until the machine has ended."""
        await self._has_ended.wait()

    def _send(self, message: bytes) -> None:
        if self._gone is not None:
            raise self._gone
        if self._writer is None:
            raise MachineGone("the virtual machine has not started")
        self._writer.write(message)

    async def submit(self, session: int, kind: int, data: bytes = b"", place: Place = None) -> Taken:
        """Give PID 1 an input, wait until the machine has taken it, and return where it did. Raises MachineGone.

        `place`: of a recording, so many timer events and the instant, at which it is to be taken. Whoever asked may
        give up waiting: an input that is in line is given all the same.
        """
        if len(data) > DATA_MAX:
            raise WireError(f"{len(data)} bytes are too many; at most {DATA_MAX} fit into one input")
        what = Frame(session, kind, data)
        if place is None:
            message = request(Request.INPUT, payload=frame(*what))
        else:
            message = request(Request.INPUT_AT, *place, payload=frame(*what))
        taken: Taken = await self._in_line(what, message)
        return taken

    async def submit_nap(self, nap: Nap) -> Nap:
        """Let a program sleep where it did in a recording; returns what the machine said of it. Raises MachineGone."""
        message = request(Request.NAP_AT, nap.events, nap.t_ns, nap_message(nap.calls, nap.length_ns, nap.ticks))
        taken: Nap = await self._in_line(nap, message)
        return taken

    async def _in_line(self, what: Frame | Nap, message: bytes) -> Any:
        if self._gone is not None:
            raise self._gone
        waiting = _Waiting(what, message, asyncio.get_running_loop().create_future())
        await self._line.put(waiting)
        if self._gone is not None:  # meanwhile: whoever was in line has been told, this one came too late for it
            raise self._gone
        return await asyncio.shield(waiting.taken)

    async def _give(self) -> None:
        """Give the inputs in line, one after the other."""
        while True:
            waiting = await self._line.get()
            self._given = waiting
            self._send(waiting.message)
            with suppress(MachineGone):
                await asyncio.shield(waiting.taken)

    async def look(self, kind: Request, a: int = 0, b: int = 0, payload: bytes = b"") -> Seen:
        """Return what a look sees (LOOK, CONNECTIONS); nothing inside changes by it. Raises MachineGone."""
        async with self._may_look:
            look = _Look()
            self._send(request(kind, a, b, payload))
            self._looks.append(look)
            # Whoever gives up waiting leaves its answer to come.
            return await asyncio.shield(look.seen)

    def set_condition(self, number: int, packed: bytes) -> None:
        """Let time stop when a condition comes true; b"" forgets it. Raises MachineGone."""
        self._send(request(Request.BREAK, number, payload=packed))
        self._conditions.add(number)

    def forget_conditions(self) -> None:
        """Let nothing stop time any more but the host. Raises MachineGone."""
        for number in sorted(self._conditions):
            self._send(request(Request.BREAK, number))
        self._conditions.clear()

    def replaying(self, wanted: bool) -> None:
        """Let no event happen before the host has said which input comes next; False: the recording is at its end."""
        self._send(request(Request.REPLAY, int(wanted)))

    def go_on(self, until_ns: int = FOR_EVER) -> None:
        """Let time go on at the speed, until an instant."""
        self._pace(self.speed, until_ns)

    def _pace(self, speed: Speed, until_ns: int) -> None:
        self.is_stopped = False
        self.broke = None
        self._at_wall_ns = time.monotonic_ns()
        self.ratio.forget()
        self._send(request(Request.PACE, kernel_speed(speed), until_ns))

    def set_speed(self, speed: Speed) -> None:
        """Change the speed; where time stands still, from when it goes on."""
        self.speed = speed
        if not self.is_stopped:
            self.go_on()

    async def stop(self) -> int:
        """Stop time; returns the instant."""
        if not self.is_stopped:
            self._send(request(Request.STOP))
            await self._wait_for(Stop.ASKED)
        return self._instant_ns

    async def come_to(self, instant_ns: int) -> None:
        """Let time come to an instant as fast as the host can, and stop there."""
        if instant_ns > self._instant_ns:
            self._pace(None, instant_ns)
            await self._wait_for(Stop.UNTIL)

    async def step(self, duration_ns: int) -> int:
        """Let so much virtual time pass, then stop; returns the instant. Cancelled, it stops at once."""
        begun_ns = await self.stop()
        self.go_on(begun_ns + duration_ns)
        try:
            return await self._wait_for(Stop.UNTIL)
        except asyncio.CancelledError:
            await asyncio.shield(self.stop())
            raise

    async def go_on_until_stopped(self) -> int:
        """Let time go on until it stands still, whatever stops it; returns the instant. Cancelled, it stops at once."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        for waiting in self._stops.values():
            waiting.append(future)
        self.go_on()
        try:
            return await future
        except asyncio.CancelledError:
            await asyncio.shield(self.stop())
            raise

    async def _wait_for(self, why: Stop) -> int:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._stops[why].append(future)
        return await future

    def now_ns(self) -> int:
        """Return the instant of now: where time goes at a pace, between two times that the machine told."""
        if self.is_stopped or self.speed is None:
            return self._instant_ns
        since_ns = min(max(0, time.monotonic_ns() - self._at_wall_ns), 50_000_000)
        ratio = self.ratio.value
        return self._instant_ns + int(since_ns * (ratio if ratio is not None else float(self.speed)))
