"""A seat: a container of its own in a network of its own, where nobody but the hub can reach it, nor it anybody."""

from __future__ import annotations

from typing import Any

import docker
from dockerspawner import DockerSpawner
from room import TRAINER, Room

HUB_CONTAINER = "fabriclab-workshop"
HUB_ALIAS = "hub"
"""The hub's container, and its name in each seat's network; docker-compose.yml gives it both."""
HOME = "/home/fabriclab"
SHARED = f"{HOME}/room"
"""What the trainer puts there is in all seats at once."""
SHARED_VOLUME = "fabriclab-room"
_LABEL = "fabriclab.workshop"
_PROCESSES = 4096
"""How many processes a seat may have: a machine's nodes have a few each."""


class SeatSpawner(DockerSpawner):
    """Starts a seat's container, with the network that it alone shares with the hub."""

    room: Room
    """The room; the configuration sets it."""

    async def start(self) -> Any:
        """Start the seat; returns its address."""
        name = self.user.name
        self.network_name = f"fabriclab-{name}"
        self.volumes = {f"fabriclab-home-{name}": HOME}
        mode = "rw" if name == TRAINER else "ro"
        self.volumes[SHARED_VOLUME] = {"bind": SHARED, "mode": mode}
        await self._make_network(name)
        return await super().start()

    async def stop(self, now: bool = False) -> None:
        """Stop the seat. Its files stay in its volume."""
        await super().stop(now=now)
        await self._remove_network(f"fabriclab-{self.user.name}")

    async def _make_network(self, name: str) -> None:
        network = f"fabriclab-{name}"
        await self._remove_network(network)
        pool = docker.types.IPAMPool(subnet=str(self.room.subnet(name)))
        await self.docker(
            "create_network",
            network,
            driver="bridge",
            internal=True,
            ipam=docker.types.IPAMConfig(pool_configs=[pool]),
            labels={_LABEL: name},
        )
        await self.docker("connect_container_to_network", HUB_CONTAINER, network, aliases=[HUB_ALIAS])

    async def _remove_network(self, network: str) -> None:
        found = await self.docker("networks", names=[network])
        for each in found:
            if each["Name"] != network:
                continue
            joined = (await self.docker("inspect_network", each["Id"]))["Containers"]
            for container in joined:
                await self.docker("disconnect_container_from_network", container, each["Id"], force=True)
            await self.docker("remove_network", each["Id"])


def rights() -> dict[str, Any]:
    """Return what Docker is told of a seat's rights: none, as the services of docker-compose.yml have."""
    return {
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "pids_limit": _PROCESSES,
        "init": True,
    }
