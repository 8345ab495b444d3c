"""A live lab from Python: `with fabriclab.up("incast") as live: live.exec("h1", ["ping", "-c1", "h2"])`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabriclab.api.lab import Lab, PathLike, Settings, settings_as_written
from fabriclab.errors import FabriclabError
from fabriclab.formats.live import Output
from fabriclab.live.client import Connection, Session, ask, exit_status
from fabriclab.live.inspecting import find_place, look_at
from fabriclab.live.launch import Up, UpRequest, bring_up, wait_for
from fabriclab.live.seen import ConnectionState, Inspection, inspection
from fabriclab.live.seen import connections as seen_connections
from fabriclab.live.terminal import execution
from fabriclab.live.wire import DATA_MAX
from fabriclab.units import parse_duration, parse_size

if TYPE_CHECKING:
    from fabriclab.api.measured import Run


class CommandFailed(FabriclabError):  # noqa: N818 - it says what happened, as subprocess.CalledProcessError does
    """A command in a node did not end with exit status 0; `done` has its status and output."""

    def __init__(self, node: str, argv: Sequence[str], done: Executed) -> None:
        """Take the command, and how it ended."""
        self.done = done
        said = done.stderr.strip() or done.stdout.strip()
        super().__init__(f"{node}: {' '.join(argv)}: ended with {done.status}" + (f": {said}" if said else ""))


@dataclass(frozen=True)
class Executed:
    """The exit status and the output of a command that ran in a node."""

    status: int
    """Its exit status; 128 and the signal's number where one ended it."""
    stdout: str
    stderr: str


class Live:
    """A lab that is up. As a context manager it goes down when the block is left."""

    def __init__(self, name: str, directory: Path, nodes: tuple[str, ...], pid: int | None = None) -> None:
        """Take a lab that is up; `up` makes these, and knows the server's process."""
        self.name = name
        """Its name among the labs that are up."""
        self.directory = directory
        """Its run directory: recording, logs, and after `down` the results."""
        self.nodes = nodes
        """The names of its nodes."""
        self._pid = pid
        self._is_down = False

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_down:
            self.down()

    def exec(self, node: str, argv: Sequence[str], *, input: str | bytes = b"", check: bool = True) -> Executed:
        """Run a command in a node, wait for its end, and return status and output.

        `input` is its standard input. Raises CommandFailed if it does not end with 0 and `check` is set, LiveError if
        it can't be run.
        """
        text = input.encode() if isinstance(input, str) else input
        gathered = {Output.STDOUT: bytearray(), Output.STDERR: bytearray()}
        with Connection(self.name) as connection:
            session = Session(connection, {"open": {"exec": execution(node, argv)}})
            finished = False
            while session.status is None:
                for kind, data in session.receive():
                    gathered[Output(kind)] += data
                    session.consumed(len(data))
                text, finished = _feed(session, text, finished)
        stdout, stderr = (gathered[kind].decode(errors="replace") for kind in (Output.STDOUT, Output.STDERR))
        done = Executed(exit_status(session.status), stdout, stderr)
        if check and done.status != 0:
            raise CommandFailed(node, argv, done)
        return done

    @property
    def now(self) -> int:
        """The virtual time in nanoseconds, from the lab's epoch."""
        return int(self._ask("state")["now_ns"])

    @property
    def speed(self) -> str:
        """The virtual seconds per wall second: `1`, `1/100` or `max`, as on the command line. It can be set."""
        return str(self._ask("state")["speed"])

    @speed.setter
    def speed(self, speed: str | float) -> None:
        self._ask("speed", speed=str(speed))

    @property
    def paused(self) -> bool:
        """Whether time stands still."""
        return bool(self._ask("state")["paused"])

    def pause(self) -> int:
        """Stop time and return the virtual time in nanoseconds. Commands still run, as long as they do not sleep."""
        return int(self._ask("pause")["now_ns"])

    def resume(self) -> None:
        """Let time continue."""
        self._ask("resume")

    def step(self, duration: str | int) -> int:
        """Let this virtual time pass (`"10 us"`, or nanoseconds), stop, and return the virtual time."""
        duration_ns = parse_duration(duration) if isinstance(duration, str) else duration
        return int(self._ask("step", duration_ns=duration_ns)["now_ns"])

    def start(self, traffic: str) -> int:
        """Start an entry of the lab's traffic and return the number of its flows."""
        return int(self._ask("start", traffic=traffic)["flows"])

    def stop(self, traffic: str) -> None:
        """Stop an entry of the traffic that was started by hand, and wait until it has ended."""
        self._ask("stop", traffic=traffic)

    def flow(self, src: str, dst: str, size: str | int, *, congestion_control: str | None = None) -> None:
        """Start one flow from a host to another; `size` is a text with a unit, or bytes."""
        size_bytes = parse_size(size) if isinstance(size, str) else size
        self._ask("flow", src=src, dst=dst, size_bytes=size_bytes, congestion_control=congestion_control)

    def inspect(self, place: str) -> Inspection:
        """Return a port (`"s1:eth49"`) with its queued packets, or all ports of a node without packets.

        Inspecting a port does not change what happens later.
        """
        return inspection(look_at(find_place(place, self.name), packets=":" in place))

    def connections(self, node: str) -> tuple[ConnectionState, ...]:
        """Return the TCP connections of a node, listeners last."""
        return seen_connections(self._ask("connections", node=node))

    def break_at(self, condition: str) -> int:
        """Stop time when a condition becomes true, and return the break point's number.

        A condition is a text such as `"s1:eth49 queue > 100 KB"` (or `> 20 packets`; `queue 3` is that queue of a
        switch port), `"s1:eth49 drop"`, `"s1 mark"`, `"pause"`, `"h1 timeout"` or `"flow 7 ends"`. Time stops at that
        very instant, and `stopped` names the condition. After `resume` time stops again only if the condition was
        false in between.
        """
        return int(self._ask("break", condition=condition)["number"])

    def clear_break(self, number: int | None = None) -> None:
        """Remove a break point; None removes all."""
        self._ask("unbreak", number=number)

    @property
    def stopped(self) -> str | None:
        """The condition that stopped time (`s1:eth49 queue is 100.4 KB`); None if no condition did, or time runs."""
        found = self._ask("state")["stopped"]
        return None if found is None else str(found)

    def set(self, settings: Settings) -> list[str]:
        """Change settings while the lab runs, by parameter, `variant` or key, such as `switches.s1.ecn_threshold`.

        Returns a line for each setting, with its old and its new value. Either all settings change or none. Raises
        LiveError if a setting is wrong or can't change now; the text says why.
        """
        texts = {key: value.text for key, value in settings_as_written(settings).items()}
        return list(self._ask("set", settings=texts)["changes"])

    def link_down(self, port: str) -> list[str]:
        """Cut a link, named by one of its ports (`"leaf1:eth5"`), at both ends. Return the old and the new state."""
        return self._link(port, "down")

    def link_up(self, port: str) -> list[str]:
        """Restore a link that is down or loses every packet. Return the old and the new state."""
        return self._link(port, "up")

    def link_blackhole(self, port: str) -> list[str]:
        """Let a link lose every packet while both its ends stay up. Return the old and the new state."""
        return self._link(port, "blackhole")

    def link_set(self, port: str, settings: Settings) -> list[str]:
        """Change a link's `rate`, `delay` or `loss`, in both directions. Return the old and the new values."""
        texts = {key: value.text for key, value in settings_as_written(settings).items()}
        return self._link(port, "set", settings=texts)

    def _link(self, port: str, action: str, **what: Any) -> list[str]:
        return list(self._ask("link", port=port, action=action, **what)["changes"])

    def node_down(self, node: str) -> list[str]:
        """Switch a node off, with all its links and processes. Return the old and the new state."""
        return list(self._ask("node", node=node, action="down")["changes"])

    def node_up(self, node: str) -> list[str]:
        """Boot a node that is down, with its links, routes and daemons. Return the old and the new state."""
        return list(self._ask("node", node=node, action="up")["changes"])

    def down(self) -> Run:
        """End the lab, wait for its results, and return them as those of any run."""
        from fabriclab.api.measured import Run

        self._is_down = True
        ended = self._ask("down")
        if self._pid is not None:
            wait_for(self._pid)
        return Run(Path(ended["directory"]))

    def _ask(self, do: str, **what: Any) -> dict[str, Any]:
        return ask(self.name, {"do": do, **what})


def _feed(session: Session, text: bytes, finished: bool) -> tuple[bytes, bool]:
    """Send what there is room for; returns what is left, and whether the input's end has been told."""
    while session.started and session.status is None and not finished:
        if not text:
            session.finish()
            return text, True
        length = min(session.room, DATA_MAX)
        if length <= 0:
            break
        session.send(text[:length])
        text = text[length:]
    return text, finished


def up(
    lab: Lab | PathLike,
    *,
    set: Settings | None = None,
    seed: int | None = None,
    speed: str | float | None = None,
    idle: bool = False,
    breaks: Sequence[str] = (),
    probes: bool = False,
    name: str | None = None,
    out: PathLike | None = None,
    engine: str = "vm",
    trust: bool = False,
    story: str | None = None,
    loop: bool = False,
    stage: Callable[[str], None] | None = None,
) -> Live:
    """Start a lab and return it as soon as it is up. A separate process serves it from then on.

    `speed` is virtual seconds per second, 1 by default, or `"max"`. With `idle` the lab's own traffic does not start.
    `breaks` are conditions that stop time (`Live.break_at`). With `probes` the lab is sampled as in a run. `engine` is
    `"vm"`, or `"containerlab"` for containers in real time (docs/live.md says what they lack). `name` is the name that
    commands use, by default the lab's. `out` is the run directory. With `trust`, code that the lab brings and that runs
    outside of its nodes may run (docs/trust.md). `story` is the name or the file of a story (docs/stories.md): the lab
    comes up as that says, and time stands still at the start; what is given here has the last word. With `loop` the
    lab's traffic starts again whenever it has ended, until it is stopped. `stage` is called with each step while the
    virtual machine boots. Raises UpFailed if the lab is wrong or can't come up; the text says why. Raises ConsentError
    as `run` does, and OSError.
    """
    wanted = None if speed is None else str(speed)
    request = up_request(lab, set, seed, wanted, idle, probes, name, out, engine, breaks, trust, story, loop)
    return live_of(bring_up(request, stage or (lambda _: None), lambda _: None))


def live_of(found: Up) -> Live:
    """Return the lab that has come up."""
    return Live(found.name, found.directory, found.nodes, found.pid)


def up_request(
    lab: Lab | PathLike,
    settings: Settings | None,
    seed: int | None,
    speed: str | None,
    idle: bool,
    probes: bool,
    name: str | None,
    out: PathLike | None,
    engine: str = "vm",
    breaks: Sequence[str] = (),
    trust: bool = False,
    story: str | None = None,
    loop: bool = False,
) -> UpRequest:
    """Return what a server is asked for. Raises ArgumentError for a setting that is none."""
    texts: tuple[str, str] | None = None
    given: Mapping[str, Any] = settings or {}
    if isinstance(lab, Lab):
        topology, experiment = lab.texts().values()
        texts, given = (topology, experiment), {**lab.settings, **given}
        place = str(lab.directory)
    else:
        place = str(lab)
    return UpRequest(
        lab=place,
        texts=texts,
        settings={key: (value.text, str(value.place)) for key, value in settings_as_written(given).items()},
        seed=seed,
        speed=speed,
        idle=idle,
        loop=loop,
        breaks=tuple(breaks),
        story=story,
        probes=probes,
        name=name,
        out=None if out is None else str(out),
        engine=engine,
        trust=trust,
        command=tuple(sys.argv),
    )
