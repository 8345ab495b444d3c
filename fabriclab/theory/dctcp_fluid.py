"""The fluid model of DCTCP: N flows through one port, their windows, their marking and the queue as smooth curves.

Source: Alizadeh, Javanmard, Prabhakar, "Analysis of DCTCP: Stability, Convergence, and Fairness", SIGMETRICS 2011,
equations (1) to (4). With W a flow's window in packets, a its estimate of the marked share, q the queue in packets,
R = d + q / C the round trip and R* = d + K / C that at the threshold:

    dW/dt = 1 / R - W a / (2 R) p(t - R*)
    da/dt = g / R (p(t - R*) - a)
    dq/dt = N W / R - C,  never below an empty queue
    p     = 1 while q > K, else 0

The delay stands at p alone, and p is a step: its future is known once the queue has crossed K. So between two steps
the equations are ordinary ones. They are given to `scipy.integrate.solve_ivp`, which finds the crossings as events, and
are solved from step to step. A solver for delays in general would smear each step over its own step width.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp

Numbers = npt.NDArray[np.float64]

FULL_FRAME_BYTES = 1538
"""What a frame of 1500 bytes of IP takes on an Ethernet line: header, checksum, preamble and gap included."""
_RELATIVE, _ABSOLUTE = 1e-9, 1e-10
"""The tolerances of a step."""
_SETTLING_CYCLES = 200
_SETTLED = 1e-7
"""A cycle is the limit when the state at its begin moves by no more than this part of itself."""
_NUDGE = 1e-4
"""How far the state is moved to see how much of it is left a cycle later."""


@dataclass(frozen=True)
class DctcpFluid:
    """One port that `flows` long DCTCP flows share.

    `capacity_pps` is the port's rate in full packets a second, `delay_s` the round trip of an empty network in seconds,
    `threshold_packets` K, and `gain` g, the weight of a new sample of the marked share (RFC 8257: 1/16).
    """

    flows: int
    capacity_pps: float
    delay_s: float
    threshold_packets: float
    gain: float = 1 / 16

    def __post_init__(self) -> None:
        """Raise ValueError for what is not a port: each number must be above 0, the gain at most 1."""
        for name in ("flows", "capacity_pps", "delay_s", "threshold_packets", "gain"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: {getattr(self, name)!r} is not above 0")
        if self.gain > 1:
            raise ValueError(f"gain: {self.gain!r} is above 1")

    @classmethod
    def of_line(
        cls, flows: int, rate_bps: float, delay_s: float, threshold_bytes: float, gain: float = 1 / 16
    ) -> DctcpFluid:
        """Return the model of a port of `rate_bps` whose threshold is in bytes of 1514-byte frames, as a lab has it."""
        return cls(flows, rate_bps / 8 / FULL_FRAME_BYTES, delay_s, threshold_bytes / 1514, gain)

    @property
    def round_trip_s(self) -> float:
        """Return R*, the round trip in seconds while the queue is at the threshold."""
        return self.delay_s + self.threshold_packets / self.capacity_pps

    @property
    def operating_window(self) -> float:
        """Return (C d + K) / N, the window in packets at which the flows just fill line and threshold.

        Above 2 the queue swings about K. At 2 and below, a window that is halved each round trip grows by as much
        again, so the queue stands still, above K (section 3.1 of the paper).
        """
        return (self.capacity_pps * self.delay_s + self.threshold_packets) / self.flows


@dataclass(frozen=True)
class Trajectory:
    """The model's curves; arrays of shape (steps,), the times in seconds, all else in packets or a share of 1."""

    time_s: Numbers
    window_packets: Numbers
    marked_share: Numbers
    queue_packets: Numbers

    def queue_at(self, time_s: npt.ArrayLike) -> Numbers:
        """Return the queue in packets at these times, between two steps on the straight line."""
        return np.interp(np.asarray(time_s, dtype=np.float64), self.time_s, self.queue_packets)


@dataclass(frozen=True)
class LimitCycle:
    """What the model ends in: one period of `curve`, or a queue that stands still (`period_s` is 0).

    Queues are in packets, `utilisation` is the part of the line that is used. `spectral_radius` tells how much of a
    small disturbance is left a cycle later: below 1 the cycle is stable (the paper's theorem 2 asks the same of the
    same map; here the map is followed, not linearised by hand). It is None where the queue stands still, and where a
    cycle is shorter than the feedback's delay, so that its state at one instant is more than window and share.
    """

    period_s: float
    queue_min: float
    queue_max: float
    queue_mean: float
    utilisation: float
    spectral_radius: float | None
    curve: Trajectory


def solve(model: DctcpFluid, duration_s: float) -> Trajectory:
    """Return the model from an empty queue on: windows that just fill the line, everything taken for marked.

    Raises ValueError for a duration that is not above 0.
    """
    if not duration_s > 0:
        raise ValueError(f"duration_s: {duration_s!r} is not above 0")
    state = np.array([model.capacity_pps * model.delay_s / model.flows, 1.0, 0.0])
    run = _Run(model, state, is_empty=True)
    while run.time < duration_s:
        run.advance(duration_s)
    return run.trajectory()


def limit_cycle(model: DctcpFluid) -> LimitCycle:
    """Return what the model settles to.

    A cycle lasts from one crossing of K upwards to the next. Raises ArithmeticError where nothing settles within 200
    cycles.
    """
    if model.operating_window <= 2:
        return _standstill(model)
    state = np.array([model.operating_window, np.sqrt(2 / model.operating_window)])
    for _ in range(_SETTLING_CYCLES):
        after = _cycle(model, state).state[:2]
        if np.all(np.abs(after - state) <= _SETTLED * np.abs(state)):
            return _settled(model, after)
        state = after
    raise ArithmeticError(f"{model}: no limit cycle after {_SETTLING_CYCLES} cycles")


def _standstill(model: DctcpFluid) -> LimitCycle:
    """Return the model at rest: every packet is marked, and a window of 2 is halved as fast as it grows."""
    queue = 2 * model.flows - model.capacity_pps * model.delay_s
    still = Trajectory(np.array([0.0]), np.array([2.0]), np.array([1.0]), np.array([queue]))
    return LimitCycle(0.0, queue, queue, queue, 1.0, None, still)


def _settled(model: DctcpFluid, state: Numbers) -> LimitCycle:
    run = _cycle(model, state)
    curve = run.trajectory()
    queue, period = curve.queue_packets, run.time
    sent = float(np.trapezoid(np.where(queue > 0, 1.0, _line_share(model, curve)), curve.time_s)) / period
    mean = float(np.trapezoid(queue, curve.time_s)) / period
    radius = _spectral_radius(model, state) if run.waits_for_one_step else None
    return LimitCycle(period, float(queue.min()), float(queue.max()), mean, sent, radius, curve)


def _line_share(model: DctcpFluid, curve: Trajectory) -> Numbers:
    """Return the part of the line that is used while the queue is empty, at most 1; shape (steps,)."""
    return np.minimum(1.0, model.flows * curve.window_packets / (model.delay_s * model.capacity_pps))


def _spectral_radius(model: DctcpFluid, state: Numbers) -> float:
    columns = []
    for index in range(2):
        nudge = np.zeros(2)
        nudge[index] = _NUDGE * state[index]
        ahead, behind = (_cycle(model, state + sign * nudge).state[:2] for sign in (1, -1))
        columns.append((ahead - behind) / (2 * nudge[index]))
    return float(np.abs(np.linalg.eigvals(np.column_stack(columns))).max())


def _cycle(model: DctcpFluid, state: Numbers) -> _Run:
    """Return a run from a crossing of K upwards, with this window and share, to the next one."""
    run = _Run(model, np.append(state, model.threshold_packets), is_empty=False)
    run.crossed(upwards=True)
    while run.crossings != 3:
        run.advance(run.time + 1000 * model.round_trip_s)
    return run


class _Run:
    """The model on its way: its state, and the steps of p that have not yet reached the senders."""

    def __init__(self, model: DctcpFluid, state: Numbers, *, is_empty: bool) -> None:
        self.model, self.state, self.is_empty = model, state, is_empty
        self.time = 0.0
        self.crossings = 0
        self.waits_for_one_step = True
        self._is_above = False
        self._marked = 0.0
        self._steps: deque[tuple[float, float]] = deque()
        self._parts: list[tuple[Numbers, Numbers]] = []

    def crossed(self, *, upwards: bool) -> None:
        """Note that the queue is at K, which the senders hear of a round trip later."""
        self.crossings += 1
        self._is_above = upwards
        self.waits_for_one_step &= not self._steps
        self._steps.append((self.time + self.model.round_trip_s, float(upwards)))

    def advance(self, until_s: float) -> None:
        """Go on until the next step of p, crossing of K, change between an empty and a standing queue, or `until_s`."""
        end = min(until_s, self._steps[0][0]) if self._steps else until_s
        if self.is_empty and self._inflow(self.state) > self.model.capacity_pps:
            self.is_empty = False
        events = [self._refills] if self.is_empty else [self._crosses(), self._runs_empty]
        found = solve_ivp(
            self._slopes,
            (self.time, end),
            self.state,
            events=events,
            max_step=self.model.round_trip_s / 10,
            rtol=_RELATIVE,
            atol=_ABSOLUTE,
        )
        self._parts.append((found.t, found.y))
        self.time, self.state = float(found.t[-1]), found.y[:, -1].copy()
        if found.status == 1:
            self._happened(crossed=not self.is_empty and bool(found.t_events and found.t_events[0].size))
        elif self._steps and self.time >= self._steps[0][0]:
            self._marked = self._steps.popleft()[1]

    def trajectory(self) -> Trajectory:
        """Return the way until now."""
        time = np.concatenate([part for part, _ in self._parts])
        window, share, queue = np.concatenate([part for _, part in self._parts], axis=1)
        return Trajectory(time, window, share, queue)

    def _happened(self, *, crossed: bool) -> None:
        if crossed:
            self.state[2] = self.model.threshold_packets
            self.crossed(upwards=not self._is_above)
        else:
            self.is_empty = not self.is_empty
            self.state[2] = 0.0

    def _inflow(self, state: Numbers) -> float:
        round_trip = self.model.delay_s + state[2] / self.model.capacity_pps
        return float(self.model.flows * state[0] / round_trip)

    def _slopes(self, _: float, state: Numbers) -> list[float]:
        window, share, queue = state
        round_trip = self.model.delay_s + queue / self.model.capacity_pps
        return [
            (1 - window * share / 2 * self._marked) / round_trip,
            self.model.gain / round_trip * (self._marked - share),
            0.0 if self.is_empty else self._inflow(state) - self.model.capacity_pps,
        ]

    def _crosses(self) -> Event:
        return _event(lambda _, state: state[2] - self.model.threshold_packets, -1 if self._is_above else 1)

    @property
    def _refills(self) -> Event:
        return _event(lambda _, state: self._inflow(state) - self.model.capacity_pps, 1)

    @property
    def _runs_empty(self) -> Event:
        return _event(lambda _, state: state[2], -1)


Event = Callable[[float, Numbers], float]


def _event(value: Event, direction: int) -> Event:
    """Return it as SciPy wants an event that ends the integration: a function with attributes."""

    def event(time: float, state: Numbers) -> float:
        return value(time, state)

    event.terminal = True  # type: ignore[attr-defined]  # SciPy reads both from the function.
    event.direction = direction  # type: ignore[attr-defined]
    return event
