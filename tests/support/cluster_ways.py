"""What is needed to reach a cluster in other ways than Dask's plain TCP: certificates, an SSH server of one's own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from patience import patient

_HOST = "127.0.0.1"
_DAYS = ("-days", "2")
_PATIENCE_S = 20.0


def needed(*names: str) -> None:
    """Skip the test where a program is missing."""
    if missing := [name for name in names if program(name) is None]:
        brings = "sudo apt-get install openssh-server openssh-client openssl"
        pytest.skip(f"fabriclab itself needs none of these, so a host may lack them: {', '.join(missing)} ({brings})")


def program(name: str) -> str | None:
    """Return where a program lies, a server's, too."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def certify(directory: Path) -> dict[str, str]:
    """Make a certificate authority, and a certificate for all; return Dask's settings."""
    directory.mkdir()
    authority, key, certificate, asked = (directory / name for name in ("ca.pem", "key.pem", "cert.pem", "asked.pem"))
    extensions = directory / "extensions"
    extensions.write_text(f"subjectAltName=IP:{_HOST}\n")
    made = ["req", "-newkey", "rsa:2048", "-nodes"]
    signed = ["x509", "-req", "-in", asked, "-CA", authority, "-CAkey", directory / "ca.key", "-CAcreateserial"]
    for words in (
        [*made, "-x509", "-keyout", directory / "ca.key", "-out", authority, *_DAYS, "-subj", "/CN=authority"],
        [*made, "-keyout", key, "-out", asked, "-subj", f"/CN={_HOST}"],
        [*signed, "-out", certificate, *_DAYS, "-extfile", extensions],
    ):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    tls = {"ca-file": authority}
    for role in ("scheduler", "worker", "client"):
        tls |= {f"{role}.cert": certificate, f"{role}.key": key}
    return {"distributed.comm.require-encryption": "true"} | {
        f"distributed.comm.tls.{name}": str(path) for name, path in tls.items()
    }


def in_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of Dask's as variables of the environment."""
    return {f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": value for name, value in settings.items()}


class SshServer:
    """An SSH server on loopback that one key opens; `home` has the client's files. Hosts that it calls `node1`
    find it."""

    def __init__(self, directory: Path, environment: str) -> None:
        """Start it. `environment`: what it sets for who comes in, as `NAME=value`."""
        self.home = directory / "home"
        keys = self.home / ".ssh"
        keys.mkdir(parents=True, mode=0o700)
        for key in (directory / "host", keys / "id"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        port = _free_port()
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        (keys / "config").write_text(
            f"Host node1\n HostName {_HOST}\n Port {port}\n User {user}\n IdentityFile {keys / 'id'}\n"
        )
        (keys / "known_hosts").write_text(f"[{_HOST}]:{port} {(directory / 'host.pub').read_text()}")
        (directory / "config").write_text(
            f"Port {port}\nListenAddress {_HOST}\nHostKey {directory / 'host'}\nAuthorizedKeysFile {keys / 'id.pub'}\n"
            f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nSetEnv {environment}\n"
        )
        command = [program("sshd") or "sshd", "-D", "-f", str(directory / "config"), "-E", str(directory / "log")]
        self._process = subprocess.Popen(command)
        until = time.monotonic() + patient(_PATIENCE_S)
        while not _listens(port):
            if self._process.poll() is not None or time.monotonic() > until:
                pytest.skip(f"sshd refuses to run as this user here: {(directory / 'log').read_text().strip()}")
            time.sleep(0.05)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((_HOST, 0))
        return int(listener.getsockname()[1])


def _listens(port: int) -> bool:
    try:
        socket.create_connection((_HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
