"""`fabriclab up`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.failure import say
from fabriclab.cli.host.waiting import waiting
from fabriclab.live.lab import up_request
from fabriclab.live.launch import Up, UpFailed, bring_up

_MOST_SHOWN = 12


def up(
    lab: Path,
    settings: Sequence[str],
    seed: int | None,
    speed: str | None,
    idle: bool,
    name: str | None,
    out: Path | None,
    probes: bool,
    engine: str,
    open_page: bool,
    breaks: Sequence[str],
    *,
    trust: bool = False,
    story: str | None = None,
    loop: bool = False,
    with_ssh: bool = False,
) -> int:
    """Bring a lab up, and say what there is; returns the exit status."""
    settled = parse_settings(settings)
    request = up_request(lab, settled, seed, speed, idle, probes, name, out, engine, breaks, story=story, loop=loop)
    warnings: list[str] = []

    def bring(trusted: bool) -> Up:
        with waiting(f"reading {lab}") as tell:
            return bring_up(replace(request, trust=trusted), tell, warnings.append)

    try:
        found = with_consent(bring, trust)
    except UpFailed as error:
        say(str(error))
        return error.status
    for sentence in warnings:
        say(f"warning: {sentence}")
    sys.stdout.write(text(found, story) if engine == "vm" else containers_text(found))
    if with_ssh:
        from fabriclab.cli.commands.live import ssh

        ssh.start(found.name)
    if open_page or story is not None:
        from fabriclab.cli.commands.live import ui

        sys.stdout.flush()
        ui.open_page(found.name)
    return 0


def text(up: Up, story: str | None = None) -> str:
    """Return what there is, and what to type next."""
    first, last = _ends(up)
    lines = [
        f"{up.name} is up, at speed {up.speed}; {up.directory}",
        *_nodes(up),
        f"  traffic   {', '.join(up.traffic) or 'none'}{_how(up)}",
        *([f"  story     {story} (time stands still; `fabriclab story` plays it here)"] if story else []),
        "",
        f"  fabriclab shell {first}                 a shell in a node; `exec {first} -- ping -c3 {last}`",
        "  fabriclab pause, step '10 us', resume    time; `speed 1/100`",
        f"  fabriclab flow {first} {last} --size '1 MB'   one flow",
        "  fabriclab ui                             all of it in a browser",
        "  fabriclab down                           the end: results, report",
    ]
    return "\n".join(lines) + "\n"


def _how(up: Up) -> str:
    """Return how the lab's traffic goes, where it does not go by itself, once."""
    if up.loop:
        return " (again when it has ended: `stop` ends that)"
    return " (none runs: `start` begins it)" if up.idle else ""


def containers_text(up: Up) -> str:
    """Return what there is in containers, and what to type next."""
    first, last = _ends(up)
    lines = [
        f"{up.name} is up in containers, in real time; {up.directory}",
        *_nodes(up),
        "  traffic   none (`fabriclab run --engine containerlab` runs the lab's own)",
        "",
        f"  fabriclab shell {first}                 a shell in a node; `exec {first} -- ping -c3 {last}`",
        "  fabriclab ui                             all of it in a browser",
        "  fabriclab down                           the end: no container is left",
    ]
    return "\n".join(lines) + "\n"


def _ends(up: Up) -> tuple[str, str]:
    hosts = list(up.addresses) or list(up.nodes)
    return hosts[0], hosts[-1]


def _nodes(up: Up) -> list[str]:
    hosts = list(up.addresses.items())
    shown = ", ".join(f"{host} {address}" for host, address in hosts[:_MOST_SHOWN])
    more = f" and {len(hosts) - _MOST_SHOWN} more" if len(hosts) > _MOST_SHOWN else ""
    switches = [node for node in up.nodes if node not in up.addresses]
    return [
        f"  hosts     {shown}{more}",
        *([f"  switches  {', '.join(switches[:_MOST_SHOWN])}"] if switches else []),
    ]
