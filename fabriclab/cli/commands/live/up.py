"""`fabriclab up`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.failure import say
from fabriclab.cli.host.waiting import waiting
from fabriclab.live.lab import up_request
from fabriclab.live.launch import Up, UpFailed, bring_up

_MOST_SHOWN = 12


def up(
    lab: Path,
    settings: Sequence[str],
    seed: int | None,
    speed: str,
    idle: bool,
    name: str | None,
    out: Path | None,
    probes: bool,
    open_page: bool,
) -> int:
    """Bring a lab up, and say what there is; returns the exit status."""
    request = up_request(lab, parse_settings(settings), seed, speed, idle, probes, name, out)
    warnings: list[str] = []
    try:
        with waiting(f"reading {lab}") as tell:
            found = bring_up(request, tell, warnings.append)
    except UpFailed as error:
        say(str(error))
        return error.status
    for sentence in warnings:
        say(f"warning: {sentence}")
    sys.stdout.write(text(found, speed))
    if open_page:
        from fabriclab.cli.commands.live import ui

        sys.stdout.flush()
        ui.open_page(found.name)
    return 0


def text(up: Up, speed: str) -> str:
    """Return what there is, and what to type next."""
    hosts = list(up.addresses.items())
    shown = ", ".join(f"{host} {address}" for host, address in hosts[:_MOST_SHOWN])
    more = f" and {len(hosts) - _MOST_SHOWN} more" if len(hosts) > _MOST_SHOWN else ""
    switches = [node for node in up.nodes if node not in up.addresses]
    first, last = (hosts[0][0], hosts[-1][0]) if hosts else (up.nodes[0], up.nodes[-1])
    lines = [
        f"{up.name} is up, at speed {speed}; {up.directory}",
        f"  hosts     {shown}{more}",
        *([f"  switches  {', '.join(switches[:_MOST_SHOWN])}"] if switches else []),
        f"  traffic   {', '.join(up.traffic) or 'none'}" + (" (none runs: `start` begins it)" if up.idle else ""),
        "",
        f"  fabriclab shell {first}                 a shell in a node; `exec {first} -- ping -c3 {last}`",
        "  fabriclab pause, step '10 us', resume    time; `speed 1/100`",
        f"  fabriclab flow {first} {last} --size '1 MB'   one flow",
        "  fabriclab down                           the end: results, report",
    ]
    return "\n".join(lines) + "\n"
