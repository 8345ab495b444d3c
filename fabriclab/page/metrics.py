"""`/metrics`: what all labs that are up measure now, for Prometheus; it looks and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prometheus_client import Metric
from starlette.requests import Request
from starlette.responses import Response

from fabriclab.live import labs_up
from fabriclab.live.client import LiveError
from fabriclab.live.wire import decode
from fabriclab.openmetrics import FAMILIES, Completions, Series, accepted, histogram_of, metric_of
from fabriclab.page.flows import Flows
from fabriclab.page.lab import asked

PATH = "/metrics"
Answer = Mapping[str, Any]
Value = Callable[[Answer], float | None]


def _key(name: str) -> Value:
    return lambda one: one.get(name)


def _seconds(name: str) -> Value:
    return lambda one: None if one.get(name) is None else one[name] / 1e9


_OF_PORTS: dict[str, Value] = {
    "port_pfc_sent": _key("pauses_sent"),
    "port_pfc_received": _key("pauses_received"),
    "port_sent_bytes": _key("tx_bytes"),
    "port_sent_packets": _key("tx_packets"),
    "port_received_bytes": _key("rx_bytes"),
    "port_received_packets": _key("rx_packets"),
    "port_up": _key("up"),
}
_OF_QUEUES: dict[str, Value] = {
    "queue_bytes": _key("bytes"),
    "queue_packets": _key("packets"),
    "queue_drops": _key("drops"),
    "queue_ecn_marks": _key("marks"),
    "queue_sent_bytes": _key("sent_bytes"),
    "queue_sent_packets": _key("sent_packets"),
    "queue_paused_seconds": _seconds("paused_ns"),
}
_OF_GROUPS: dict[str, Value] = {
    "group_bytes": _key("bytes"),
    "group_headroom_bytes": _key("headroom_bytes"),
    "group_pauses": _key("xoffs"),
}


class _Followed:
    """The flows of a lab, and how long those that are complete took."""

    def __init__(self, facts: Answer) -> None:
        self._flows = Flows(Path(facts["directory"]), idle=bool(facts.get("idle")))
        self.completions = Completions()

    def look(self, now_ns: int, started: Mapping[str, int]) -> None:
        """Take the flows that have ended since the last look."""
        for flow in self._flows.look(now_ns, started)["ended"]:
            if flow["fct_ns"] is not None:
                self.completions.add(flow["class"] or "", flow["fct_ns"])


class Metrics:
    """Answers scrapes, and remembers each lab's flows between them."""

    def __init__(self) -> None:
        self._followed: dict[str, _Followed] = {}
        self._scraping = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """Return the metrics of the labs that are up, as the scraper accepts them."""
        async with self._scraping:
            labs = labs_up.labs()
            for name in self._followed.keys() - {_id(name, facts) for name, facts in labs.items()}:
                del self._followed[name]
            looks = [(name, await self._look(name, facts)) for name, facts in labs.items()]
        found = {name: look for name, look in looks if look is not None}
        body, media_type = await asyncio.to_thread(accepted, _metrics(found), request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": media_type})

    async def _look(self, name: str, facts: Answer) -> tuple[Answer, Completions] | None:
        """Return what is seen of a lab; None where it is going down, or runs in containers, which cannot be looked
        into."""
        try:
            look = decode(await asked(name, {"do": "look", "ports": None, "packets": False}))
            started = decode(await asked(name, {"do": "started"}))["started"]
        except LiveError:
            return None
        key = _id(name, facts)
        if key not in self._followed:
            self._followed[key] = await asyncio.to_thread(_Followed, facts)
        followed = self._followed[key]
        await asyncio.to_thread(followed.look, look["now_ns"], started)
        return look, followed.completions


def _id(name: str, facts: Answer) -> str:
    return f"{name} {facts['directory']}"


def _metrics(labs: Mapping[str, tuple[Answer, Completions]]) -> Iterator[Metric | None]:
    """Yield each family once, with the samples of all labs."""
    looks = [(name, look) for name, (look, _) in labs.items()]
    for family in FAMILIES:
        merged = [metric_of(FAMILIES[family], _series(family, look), {"lab": name}) for name, look in looks]
        yield _merged(merged)
    yield _merged([histogram_of([(done, None)], {"lab": name}) for name, (_, done) in labs.items()])


def _merged(metrics: Sequence[Metric | None]) -> Metric | None:
    found = [metric for metric in metrics if metric is not None]
    for other in found[1:]:
        found[0].samples = [*found[0].samples, *other.samples]
    return found[0] if found else None


def _series(family: str, look: Answer) -> Iterator[Series]:
    if family == "virtual_time_seconds":
        yield (), look["now_ns"] / 1e9, None
    for port in look["ports"]:
        place = (port["node"], port["interface"])
        things: list[tuple[tuple[str, ...], Answer, Value | None]] = [(place, port, _OF_PORTS.get(family))]
        things += [((*place, str(one["queue"])), one, _OF_QUEUES.get(family)) for one in port["queues"]]
        things += [((*place, str(one["group"])), one, _OF_GROUPS.get(family)) for one in port.get("groups", ())]
        for labels, one, value in things:
            known = None if value is None else value(one)
            if known is not None:
                yield labels, float(known), None
