"""SSH to the nodes of a live lab, as a client of others sees it: programs in nodes, and no way anywhere else."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from fake_lab import FakeLab
from patience import patient, wait_until

import fabriclab
from fabriclab.cli.commands.live.ssh import ssh as command
from fabriclab.cli.commands.live.ssh import start
from fabriclab.engine.artefacts import Artefacts
from fabriclab.live.labs_up import LabsUpError
from fabriclab.ssh import serve as serving
from fabriclab.ssh.files import Keys, new_keys, remove_files, ssh_config, write_files
from fabriclab.ssh.serve import serve as serve_lab
from fabriclab.ssh.server import Nodes, SshError


async def connect(port: int, keys: Keys, user: str) -> asyncssh.SSHClientConnection:
    known = asyncssh.import_known_hosts(f"[127.0.0.1]:{port} {keys.server.export_public_key().decode()}")
    return await asyncssh.connect(
        "127.0.0.1", port, username=user, client_keys=[keys.client], known_hosts=known, agent_path=None, config=None
    )


def test_only_the_labs_key_and_its_nodes_get_in(fake: FakeLab) -> None:
    keys = new_keys()

    async def refused(user: str, with_keys: Keys, port: int) -> bool:
        try:
            connection = await connect(port, with_keys, user)
        except asyncssh.PermissionDenied:
            return True
        connection.close()
        return False

    async def tried() -> list[bool]:
        server, port = await Nodes("fake", ["h1", "s1"], ["s1"], keys).start(0)
        try:
            with pytest.raises(SshError, match=f"--port {port}: the port is in use"):
                await Nodes("fake", ["h1"], [], keys).start(port)
            other = Keys(new_keys().client, keys.server)
            who = [("h1", keys), ("s1+vtysh", keys), ("h1+vtysh", keys), ("h2", keys), ("root", keys), ("h1", other)]
            return [await refused(user, some, port) for user, some in who]
        finally:
            server.close()

    assert asyncio.run(tried()) == [False, False, True, True, True, True]


def test_a_configuration_names_every_node_and_every_routers_shell(tmp_path: Path) -> None:
    text = ssh_config(tmp_path, 2222, ["h1", "s1"], ["s1"])
    assert re.findall(r'^Host "(.*)"$', text, re.MULTILINE) == ["h1", "s1", "s1+vtysh"]
    assert "StrictHostKeyChecking yes" in text


def test_files_of_another_server_stay(tmp_path: Path) -> None:
    write_files(tmp_path / "ssh", new_keys(), 2222, ["h1"], [])
    write_files(tmp_path / "ssh", new_keys(), 3333, ["h1"], [])
    remove_files(tmp_path / "ssh", 2222)
    assert (tmp_path / "ssh" / "config").is_file()
    remove_files(tmp_path / "ssh", 3333)
    assert not (tmp_path / "ssh").exists()


def test_a_command_serves_until_a_signal_and_says_what_to_type(
    fake: FakeLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "keys"

    def end_once_it_serves() -> None:
        wait_until(lambda: (directory / "inventory.json").is_file(), what="it serves")
        os.kill(os.getpid(), signal.SIGTERM)

    # The handler is there before the files are.
    ending = threading.Thread(target=end_once_it_serves)
    ending.start()
    command("fake", 0, directory)
    ending.join()
    told = capsys.readouterr()
    assert told.out.startswith(f"ssh -F {directory / 'config'} ")
    assert "SSH to fake's nodes on 127.0.0.1:" in told.err
    assert not directory.exists()
    with pytest.raises(LabsUpError):
        command("none", 0, directory)


def serve(tmp_path: Path, lab: str) -> subprocess.Popen[str]:
    """Start the command as a user does, and wait until it has said what to type."""
    command = [sys.executable, "-m", "fabriclab", "ssh", lab, "--directory", str(tmp_path / "ssh")]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert served.stdout is not None
    assert served.stdout.readline() == f"ssh -F {tmp_path / 'ssh' / 'config'} s1\n"
    assert served.stdout.readline().startswith("ansible -i ")
    return served


async def asked(directory: Path) -> dict[str, Any]:
    """Ask nodes for what they answer, by the files that the command wrote and nothing else."""
    found: dict[str, Any] = {}
    config = [str(directory / "config")]
    # The client's own agent and configuration stay out of it.
    async with await asyncssh.connect("h1", config=config, agent_path=None) as node:
        done = await node.run("hostname; cat; echo err >&2; exit 7", input="typed\n")
        found["run"] = (done.stdout, done.stderr, done.exit_status)
        terminal = await node.run("stty size; tty", term_type="xterm", term_size=(132, 43))
        found["terminal"] = str(terminal.stdout).split()
        # A terminal is the client's to size; a signal reaches the program.
        async with node.create_process("sleep 1000") as process:
            process.send_signal("TERM")
            found["killed"] = (await process.wait()).exit_status
        try:
            await node.start_sftp_client()
        except asyncssh.Error as error:
            found["files"] = type(error).__name__
        try:
            await node.open_connection("127.0.0.1", 22)
        except asyncssh.ChannelOpenError as error:
            found["forwarded"] = error.code
        environment = await node.run("env", env={"LD_PRELOAD": "/x", "PATH": "/nowhere"})
        found["environment"] = str(environment.stdout)
    return found


async def served_and_asked(lab: str, directory: Path) -> tuple[dict[str, Any], str]:
    """Serve a lab in this process, ask its nodes, and end it as a signal does."""
    ports: list[int] = []
    serving = asyncio.create_task(serve_lab(lab, 0, directory, ports.append))
    while not ports:
        await asyncio.sleep(0.05)
        assert not serving.done(), serving.exception()
    assert (directory / "id_ed25519").stat().st_mode & 0o777 == 0o600
    inventory = (directory / "inventory.json").read_text()
    try:
        found = await asyncio.wait_for(asked(directory), patient(60))
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        assert await asyncio.wait_for(serving, patient(30)) is False
    return found, inventory


@pytest.mark.vm
@pytest.mark.covered
@pytest.mark.slow("a live lab, whose nodes a client reaches by SSH")
def test_programs_in_nodes_and_nothing_of_the_host(
    artefacts: Artefacts, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    directory = tmp_path / "ssh"
    with fabriclab.up("incast", idle=True, speed="max", out=tmp_path / "run", name="ssh-test") as live:
        found, written = asyncio.run(served_and_asked(live.name, directory))
        inventory = json.loads(written)["all"]
        assert set(inventory["children"]["hosts"]["hosts"]) == set(live.nodes)
    assert inventory["vars"]["ansible_host"] == "127.0.0.1"
    assert not directory.exists(), "keys stay behind"
    assert found["run"] == ("h1\ntyped\n", "err\n", 7)
    assert found["terminal"] == ["43", "132", "/dev/pts/0"]
    assert found["killed"] == 128 + signal.SIGTERM
    assert found["files"] == "ChannelOpenError" and found["forwarded"] == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED
    assert "LD_PRELOAD" not in found["environment"] and "/nowhere" not in found["environment"]
    assert os.environ["PATH"] not in found["environment"]


@pytest.mark.vm
@pytest.mark.covered
def test_it_ends_with_its_lab(
    artefacts: Artefacts,
    runtime: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with fabriclab.up("incast", idle=True, speed="max", out=tmp_path / "run", name="ssh-end") as live:
        served = serve(tmp_path, live.name)
        directory = tmp_path / "background"
        monkeypatch.setattr(serving, "directory_of", lambda _: directory)
        start(live.name)
        assert capsys.readouterr().out.startswith(f"  ssh -F {directory / 'config'} s1\n")
        assert (directory / "config").is_file()
    wait_until(lambda: not directory.exists(), what="the server in the background ends, too")
    said = served.communicate(timeout=patient(30))[1]
    assert "ssh-end: the lab has gone down" in said
    assert served.returncode == 0
    wait_until(lambda: not (tmp_path / "ssh").exists(), what="the files go")
