"""A workshop's room, as docker-compose.yml's environment describes it: how many seats, and what each may use."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

TRAINER = "trainer"
MOST_SEATS = 200
_SEAT_PREFIX = 28
"""A seat's network has room for the seat, the hub and Docker's gateway."""
_MEMORY = re.compile(r"[1-9][0-9]*[MG]")


class RoomError(ValueError):
    """A setting is wrong; the text names it, its value, and what would be right."""


@dataclass(frozen=True)
class Room:
    """What a workshop consists of."""

    seats: int
    """How many participants there are, beside the trainer."""
    memory: str
    """The most memory of a seat, its machine included, as JupyterHub writes it: `2G`."""
    cpus: float
    """How many processors a seat may keep busy."""
    network: ipaddress.IPv4Network
    """Where the networks of the seats are cut from, one each."""

    @property
    def names(self) -> list[str]:
        """The names that people log in with, the trainer's first."""
        width = max(2, len(str(self.seats)))
        return [TRAINER, *(f"seat{number:0{width}}" for number in range(1, self.seats + 1))]

    def subnet(self, name: str) -> ipaddress.IPv4Network:
        """Return the network of a seat. Raises ValueError for a name that has none."""
        step = 1 << (32 - _SEAT_PREFIX)
        first = int(self.network.network_address) + self.names.index(name) * step
        return ipaddress.IPv4Network((first, _SEAT_PREFIX))


def read_room(environment: Mapping[str, str]) -> Room:
    """Return the room that the environment describes. Raises RoomError."""
    room = Room(
        seats=int(_number(environment, "FABRICLAB_SEATS", 1, MOST_SEATS, whole=True)),
        memory=_memory(environment),
        cpus=_number(environment, "FABRICLAB_SEAT_CPUS", 0.1, 1024, whole=False),
        network=_network(environment),
    )
    if room.network.num_addresses < len(room.names) << (32 - _SEAT_PREFIX):
        raise RoomError(f"FABRICLAB_ROOM_NETWORK={room.network}: is too small for {room.seats} seats; a /16 does")
    return room


def _number(environment: Mapping[str, str], name: str, least: float, most: float, *, whole: bool) -> float:
    text = environment.get(name, "")
    try:
        found = int(text) if whole else float(text)
    except ValueError:
        found = -1
    if not least <= found <= most:
        raise RoomError(f"{name}={text}: expected a {'whole ' if whole else ''}number from {least:g} to {most:g}")
    return found


def _memory(environment: Mapping[str, str]) -> str:
    text = environment.get("FABRICLAB_SEAT_MEMORY", "")
    if not _MEMORY.fullmatch(text):
        raise RoomError(f"FABRICLAB_SEAT_MEMORY={text}: expected a size such as 1500M or 2G")
    return text


def _network(environment: Mapping[str, str]) -> ipaddress.IPv4Network:
    text = environment.get("FABRICLAB_ROOM_NETWORK", "")
    try:
        found = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise RoomError(f"FABRICLAB_ROOM_NETWORK={text}: {error}; expected one such as 10.213.0.0/16") from None
    if not found.is_private:
        raise RoomError(f"FABRICLAB_ROOM_NETWORK={text}: is not a private network; expected one such as 10.213.0.0/16")
    return found
