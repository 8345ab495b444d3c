"""A lab that stays up in containers: programs in nodes, changes of links, and what is refused."""

from __future__ import annotations

import asyncio
import stat
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from patience import patient

from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.job import read_job
from fabriclab.engine.containers.node import node_content
from fabriclab.formats.live import OUTPUT_CREDIT, Input, Output
from fabriclab.lab import parse_lab
from fabriclab.live.clients import Refused
from fabriclab.live.deployed import DeployedMachine
from fabriclab.live.wire import Frame, decode, encode, number
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs

# `docker exec OPTIONS ID COMMAND...`, carried out here.
_DOCKER = """#!{python}
import os, sys
words = sys.argv[2:]
while words[0].startswith("-"):
    option = words.pop(0)
    if option == "--user":
        words.pop(0)
    if option.startswith("--env="):
        name, _, value = option.removeprefix("--env=").partition("=")
        os.environ[name] = value
words = [word.replace("/run/fabriclab-", "{directory}/") for word in words[1:]]
os.execvp("setsid", ["setsid", "--wait", *words])
"""
PATIENCE_S = 20
LAB = Path(__file__).parents[2] / "labs" / "dctcp-queue"


class Heard:
    """What a session wrote."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._news = asyncio.Event()

    def __call__(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._news.set()

    def data(self, kind: Output) -> bytes:
        return b"".join(frame.data for frame in self.frames if frame.kind == kind)

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(patient(PATIENCE_S)):
            while not done():
                self._news.clear()
                await self._news.wait()

    async def status(self) -> str:
        await self.until(lambda: any(frame.kind in (Output.ENDED, Output.ERROR) for frame in self.frames))
        last = decode(self.frames[-1].data)
        return str(last.get("status") or last.get("message"))


Play = Callable[[DeployedMachine, Heard], Coroutine[Any, Any, None]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Play], None]:
    """Let something happen to a machine of one container, `h1`, which is this computer."""
    docker = tmp_path / "docker"
    docker.write_text(_DOCKER.replace("{python}", sys.executable).replace("{directory}", str(tmp_path)))
    docker.chmod(docker.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    async def begin(happens: Play) -> None:
        heard = Heard()
        machine = DeployedMachine(heard)
        following = asyncio.create_task(machine.follow())
        machine.stay.on_up({"h1": Container("h1", "0123", "clab-h1")})
        await machine.is_up.wait()
        try:
            await happens(machine, heard)
        finally:
            machine.stay.on_gone()
            await following

    return lambda happens: asyncio.run(begin(happens))


def opening(*argv: str, **more: Any) -> bytes:
    return encode({"exec": {"node": "h1", "argv": list(argv), "environment": {"LANG": "C"}, **more}})


def test_streams_and_status_are_the_programs(play: Callable[[Play], None]) -> None:
    async def happens(machine: DeployedMachine, heard: Heard) -> None:
        await machine.submit(1, Input.OPEN, opening("sh", "-c", "cat; echo $LANG >&2; exit 3"))
        await machine.submit(1, Input.DATA, b"here\n")
        await machine.submit(1, Input.EOF)
        assert await heard.status() == "exit 3"
        assert heard.data(Output.STDOUT) == b"here\n" and heard.data(Output.STDERR) == b"C\n"
        assert heard.data(Output.CREDIT) == number(5)

    play(happens)


def test_a_program_waits_for_its_reader(play: Callable[[Play], None]) -> None:
    async def happens(machine: DeployedMachine, heard: Heard) -> None:
        await machine.submit(1, Input.OPEN, opening("head", "-c", "300000", "/dev/zero"))
        await heard.until(lambda: len(heard.data(Output.STDOUT)) == OUTPUT_CREDIT)
        await machine.submit(1, Input.CREDIT, number(100_000))
        assert await heard.status() == "exit 0"
        assert len(heard.data(Output.STDOUT)) == 300_000

    play(happens)


async def _read_on(machine: DeployedMachine) -> None:
    while True:
        await machine.submit(1, Input.CREDIT, number(1 << 18))
        await asyncio.sleep(0.01)


def test_a_signal_ends_what_nobody_reads(play: Callable[[Play], None]) -> None:
    async def happens(machine: DeployedMachine, heard: Heard) -> None:
        await machine.submit(1, Input.OPEN, opening("yes"))
        await heard.until(lambda: len(heard.data(Output.STDOUT)) == OUTPUT_CREDIT)
        await machine.submit(1, Input.SIGNAL, bytes([2]))
        # The signal takes as long as a program's start; what it writes until then is still to be read.
        reading = asyncio.create_task(_read_on(machine))
        try:
            assert (await heard.status()).split()[0] in ("signal", "exit")
        finally:
            reading.cancel()

    play(happens)


def test_a_terminal_has_a_size(play: Callable[[Play], None]) -> None:
    async def happens(machine: DeployedMachine, heard: Heard) -> None:
        await machine.submit(1, Input.OPEN, opening("stty", "size", terminal={"rows": 7, "columns": 61}))
        assert await heard.status() == "exit 0"
        assert heard.data(Output.STDOUT) == b"7 61\r\n"

    play(happens)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"start": {"programs": [], "role": "traffic"}}, "traffic can be started by hand"),
        ({"connect": {"node": "h1", "port": 80}}, "a port can be forwarded"),
        ({"change": {"name": "x", "down": ["h1"]}}, "can't lose its power"),
        ({"exec": {"node": None, "argv": ["true"]}}, "name a node"),
    ],
)
def test_what_containers_cannot_do_is_said(play: Callable[[Play], None], body: dict[str, Any], words: str) -> None:
    async def happens(machine: DeployedMachine, heard: Heard) -> None:
        await machine.submit(1, Input.OPEN, encode(body))
        assert words in await heard.status()
        for refused in (machine.stop(), machine.step(1000)):
            with pytest.raises(Refused, match="containers run in real time"):
                await refused

    play(happens)


def test_all_nodes_stay_and_know_each_other(tmp_path: Path) -> None:
    """No traffic runs, so none says which hosts take part; and Docker has mounted /etc/hosts."""
    plan = resolve_plan(parse_lab(LAB), {}, 1)
    write_inputs(plan, tmp_path, tmp_path / "run", stock=True, live={"idle": True})
    job = read_job(tmp_path / "run")
    assert set(job.files) == {node.name for node in plan.nodes} and job.traffic == ()
    node = plan.nodes[0].name
    tools = tmp_path / "tools"
    content = node_content(tmp_path / "run", tmp_path / "run" / job.files[node], tools, job.interfaces[node], None)
    assert "/etc/hosts" not in content and f"/job/{job.files[node]}/mounted/etc/hosts" in content
