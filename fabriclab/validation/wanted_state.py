"""Whether routing daemons are as they should be: sessions and routes as `validation` wants them; all sessions up where
it names none."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.plan.node import Node
from fabriclab.keys.wording import listed
from fabriclab.lab.wanted_state import ABSENT, WrittenRoute, WrittenSession
from fabriclab.results import Results
from fabriclab.validation.bench import Bench, Collector
from fabriclab.validation.daemon_routes import asked, fits, paths
from fabriclab.validation.daemon_sessions import PROTOCOLS, Protocol, Session
from fabriclab.validation.down_sessions import DETAILS, why_down
from fabriclab.validation.finding import ValidationFinding, judged, shortened, unmeasured

_BGP = "bgp"
_DETAILS = "sessions-bgp-details"


def session_collectors(bench: Bench) -> Iterator[Collector]:
    """Yield what asks each daemon for its sessions."""
    for node in bench.plan.nodes:
        for protocol in _protocols(node):
            yield bench.collector(_sessions(protocol), node.name, ("vtysh", "-c", protocol.command))
            if protocol.name == _BGP:
                yield bench.collector(_DETAILS, node.name, ("vtysh", "-c", DETAILS))
    negotiated = {(name, one.protocol) for one in bench.wanted.sessions if one.negotiated for name in one.nodes}
    for name, wanted in sorted(negotiated):
        for protocol in _protocols(bench.plan.node(name)):
            if protocol.name == wanted:
                yield bench.collector(
                    _sessions(protocol, negotiated=True), name, ("vtysh", "-c", protocol.negotiated_command)
                )


def route_collectors(bench: Bench) -> Iterator[Collector]:
    """Yield what asks for each route that `validation.routes` names."""
    for number, route in enumerate(bench.wanted.routes):
        for node in route.nodes:
            yield bench.collector(_route(number), node, asked(route))


def judge_sessions(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    """Yield a finding for each session that is named, and one for the others of each daemon."""
    named = set[tuple[str, str, str]]()
    for wanted in bench.wanted.sessions:
        for name in wanted.nodes:
            named.add((name, wanted.protocol, wanted.neighbor))
            yield _judged_session(bench, bench.plan.node(name), wanted, results)
    # After a change, of sessions that nobody names it is not known whether they should be up.
    for node in bench.plan.nodes if not bench.step else ():
        for protocol in _protocols(node):
            yield from _others(bench, node, protocol, named, results)


def judge_routes(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    """Yield a finding for each route that is named, on each node."""
    for number, route in enumerate(bench.wanted.routes):
        for node in route.nodes:
            yield _judged_route(node, route, bench.collected(results, _route(number), node))


def _others(
    bench: Bench, node: Node, protocol: Protocol, named: set[tuple[str, str, str]], results: Results
) -> Iterator[ValidationFinding]:
    """Yield whether the sessions are up that are not named. Where some are, of others that are down nobody says that
    they should not be."""
    output = bench.collected(results, _sessions(protocol), node.name)
    sessions, where = protocol.sessions(output), f"{node.name}, {protocol.name}"
    if output is None:
        yield unmeasured("sessions", where, "all up", "the daemon gave no answer")
    details = bench.collected(results, _DETAILS, node.name) if protocol.name == _BGP else None

    def told_state(one: Session) -> str:
        return f"{one.state}{why_down(details, one.neighbor, one.vrf)}"

    rest = [one for one in sessions if (node.name, protocol.name, one.neighbor) not in named]
    down = [one for one in rest if one.state not in protocol.up]
    if down and named:
        measured = listed([f"{one.words} {told_state(one)}" for one in down])
        yield unmeasured("sessions", where, "validation.sessions says", measured)
    elif down:
        yield from shortened(
            [judged("sessions", f"{where} to {one.words}", protocol.up[0], told_state(one), False) for one in down]
        )
    elif rest:
        text = f"{len(rest)} up"
        yield judged("sessions", where, text, text, holds=True)


def _judged_session(bench: Bench, node: Node, wanted: WrittenSession, results: Results) -> ValidationFinding:
    protocol = next((one for one in _protocols(node) if one.name == wanted.protocol), None)
    attributes = {"family": wanted.family, "vrf": wanted.vrf, "level": wanted.level, "area": wanted.area}
    words = "".join(f", {name} {value}" for name, value in attributes.items() if value is not None)
    where = f"{node.name}, {wanted.protocol} to {wanted.neighbor}{words}"
    daemon = next(name for name, one in PROTOCOLS.items() if one.name == wanted.protocol)
    states = wanted.states or PROTOCOLS[daemon].up[:1]
    name = None if protocol is None else _sessions(protocol, negotiated=wanted.negotiated)
    output = None if name is None else bench.collected(results, name, node.name)
    if protocol is None:
        return judged("sessions", where, listed(states), f"no {daemon} runs there", ABSENT in states, wanted.severity)
    if output is None:
        return unmeasured("sessions", where, listed(states), "the daemon gave no answer")
    found = [one.state for one in protocol.sessions(output) if _is(one, wanted)] or [ABSENT]
    holds, measured = set(found) <= set(states), listed(list(dict.fromkeys(found)))
    if not holds and protocol.name == _BGP:
        measured += why_down(bench.collected(results, _DETAILS, node.name), wanted.neighbor, wanted.vrf)
    return judged("sessions", where, listed(states), measured, holds, wanted.severity)


def _is(session: Session, wanted: WrittenSession) -> bool:
    """Return whether it is the session that is meant."""
    pairs = (
        (session.family, wanted.family),
        (session.vrf, wanted.vrf),
        (session.level, wanted.level),
        (session.area, wanted.area),
    )
    return session.neighbor == wanted.neighbor and all(want is None or have == want for have, want in pairs)


def _judged_route(node: str, route: WrittenRoute, output: str | None) -> ValidationFinding:
    words = "".join(f", {name.replace('_', ' ')} {_text(value)}" for name, value in route.attributes.items())
    where, expected = f"{node}, {route.table} {route.prefix}{words}", "there" if route.present else ABSENT
    found = None if output is None or not output.strip() else paths(route, output)
    if found is None:
        return unmeasured("routes", where, expected, "the daemon gave no answer")
    matching = [path for path in found if fits(route, path)]
    measured = "there" if matching else "present, but different" if found else ABSENT
    return judged("routes", where, expected, measured, bool(matching) == route.present, route.severity)


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _protocols(node: Node) -> Iterator[Protocol]:
    names = () if node.setup is None else (daemon.name.partition("-")[0] for daemon in node.setup.daemons)
    return (PROTOCOLS[name] for name in names if name in PROTOCOLS)


def _sessions(protocol: Protocol, *, negotiated: bool = False) -> str:
    return f"sessions-{protocol.name}{'-negotiated' if negotiated else ''}"


def _route(number: int) -> str:
    return f"route-{number + 1}"
