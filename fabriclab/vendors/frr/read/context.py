"""What all readers of FRR's commands share: the file, the problems found in it, and addresses with their line."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network

from fabriclab.keys.wording import shown
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.frr.read.config import Address, FrrConfig, InterfaceAddress, Network

_LARGEST_ASN = 2**32 - 1
_LARGEST_HALF = 2**16 - 1


@dataclass(frozen=True)
class Context:
    """A configuration that is being read."""

    config: FrrConfig
    problems: Problems

    def complain(self, command: Command, message: str, value: str = "") -> None:
        """Record what is wrong with a command."""
        self.problems.add(self.config.place(command.line), command.text[:80], message, value)

    def interface_address(self, command: Command, text: str) -> InterfaceAddress | None:
        """Return an address with its prefix length; None, and a problem, for anything else."""
        try:
            if "/" not in text:
                raise ValueError
            return ip_interface(text)
        except ValueError:
            self.complain(
                command, f"{shown(text)} is not an address with a prefix length; write one such as 10.0.0.1/31", text
            )
            return None

    def network(self, command: Command, text: str) -> Network | None:
        """Return a network, host bits cut as FRR cuts them; None, and a problem, for anything else."""
        try:
            if "/" not in text:
                raise ValueError
            found: IPv4Network | IPv6Network = ip_network(text, strict=False)
        except ValueError:
            self.complain(command, f"{shown(text)} is not a network; write one such as 10.0.0.0/24", text)
            return None
        return found

    def as_number(self, command: Command, text: str) -> int | None:
        """Return an AS number, plain or dotted (RFC 5396); None, and a problem, for anything else."""
        high, dot, low = text.partition(".")
        if all(half.isascii() and half.isdigit() and len(half) <= 10 for half in ([high, low] if dot else [high])):
            number = int(high) * (_LARGEST_HALF + 1) + int(low) if dot else int(high)
            if 1 <= number <= _LARGEST_ASN and (not dot or max(int(high), int(low)) <= _LARGEST_HALF):
                return number
        self.complain(command, f"{shown(text)} is not an AS number; write one such as 65001", text)
        return None


def as_address(text: str) -> Address | None:
    """Return an address; None for what is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def option(words: tuple[str, ...], name: str) -> str | None:
    """Return the word after `name`; None where it is not there."""
    return words[words.index(name) + 1] if name in words[:-1] else None
