"""Containerlab deploys and destroys the lab's own topology. Whatever happens to us, nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.docker import (
    LAB_LABEL,
    Container,
    await_daemon,
    containers_of,
    describe_containers,
    remove_containers,
)
from fabriclab.engine.containers.topology import deployable, read_containers

_DEPLOY_S = 600.0
_DESTROY_S = 300.0
# When the pipe breaks before a line we have died, even of SIGKILL: the lab goes. $1 is the rendezvous.
_GUARD = 'read -r released && exit; meeting=$1; shift; "$@"; rm -rf -- "$meeting"'
_RENDEZVOUS = "/run/fabriclab/rendezvous"
"""Where the job's programs meet in all nodes (`images/machine/README.md`)."""


class Deployment:
    """A deployed lab.

    Use as a context manager: on leaving it containers, links, networks and Containerlab's files are gone.
    """

    def __init__(
        self,
        topology: Path,
        directory: Path,
        nodes: Collection[str] | None = None,
        text: str | None = None,
        own_binds: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`nodes` alone are deployed; None: all of the topology. `text`: what its file comes to, where it is a Go
        template. `own_binds`: what is bound into single nodes (`host's path:node's path`). Raises EngineError."""
        # A name of its own: the same lab may run twice on a host, and the user's own deployment of it is not ours.
        self.name = f"fl{secrets.token_hex(4)}"
        self._topology = directory.resolve() / "machine" / "topology.clab.yml"
        self._rendezvous = self._topology.with_name("rendezvous")
        if ":" in str(self._rendezvous):
            raise EngineError(
                f"{directory}: Docker can't mount a directory with a colon in its path; name another directory with "
                "--out"
            )
        binds = [f"{self._rendezvous}:{_RENDEZVOUS}"]
        self._topology.write_text(deployable(topology, self.name, binds, nodes, text, own_binds))
        self._has_own = any(container.config is not None for container in read_containers(topology, text))
        self._directory = directory
        self._environment = {"CLAB_LABDIR_BASE": str(directory.resolve()), "CLAB_VERSION_CHECK": "disable"}
        self._guard: subprocess.Popen[bytes] | None = None

    def deploy_argv(self) -> list[str]:
        """Return the command that deploys the lab."""
        # A vendor's switch is started by us, when it has its configuration; Containerlab would start it before.
        own = ["--skip-post-deploy"] if self._has_own else []
        return ["containerlab", "deploy", "--topo", str(self._topology), "--log-level", "warn", *own]

    def destroy_argv(self) -> list[str]:
        """Return the command that destroys it."""
        return ["containerlab", "destroy", "--topo", str(self._topology), "--cleanup", "--log-level", "warn"]

    def __enter__(self) -> Deployment:
        self._rendezvous.mkdir()
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "fabriclab-guard", str(self._rendezvous), *self.destroy_argv()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **self._environment},
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._destroy()
        finally:
            self._release_guard()

    def deploy(self) -> dict[str, Container]:
        """Deploy; returns the containers by node. Raises EngineError, with Containerlab's words."""
        run_command(self.deploy_argv(), timeout_s=_DEPLOY_S, environment=self._environment)
        containers = describe_containers(self.name)
        if not containers:
            raise EngineError(f"{self._topology}: Containerlab deployed no container")
        return containers

    def _destroy(self) -> None:
        failure: CommandError | None = None
        if not await_daemon():
            find = f"docker ps --all --quiet --filter label={LAB_LABEL}={self.name}"
            raise EngineError(
                "the Docker daemon ended and did not come back, so the lab's containers remain; "
                f"when it runs again, remove them with {find} | xargs --no-run-if-empty docker rm -f"
            )
        try:
            run_command(self.destroy_argv(), timeout_s=_DESTROY_S, environment=self._environment)
        except CommandError as error:
            failure = error
        # A deployment that stopped half-way is not always known to Containerlab.
        left = containers_of(self.name)
        if left:
            remove_containers(left)
        for leaving in (self._directory / f"clab-{self.name}", self._rendezvous):
            shutil.rmtree(leaving, ignore_errors=True)
        if failure is not None and left:
            raise EngineError(
                f"the containers were removed, but Containerlab could not destroy the lab in order: {failure}"
            )

    def _release_guard(self) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.write(b"released\n")
                self._guard.stdin.close()
            self._guard.wait()
