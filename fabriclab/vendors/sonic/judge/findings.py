"""What is found in a config_db.json: a rule, where, a value, what it is compared with, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fabriclab.formats.finding import Finding
from fabriclab.keys.wording import listed

_MOST_PORTS = 4


@dataclass(frozen=True)
class SonicFinding(Finding):
    """What is found in a config_db.json. Its rule is one of `rules.RULES`, its path table, key and field; the path is
    shorter where a finding is about more than a field."""

    line: int | None = None

    @property
    def where(self) -> str:
        """Return the place as `TABLE|key|field`."""
        return "|".join(self.path)

    @property
    def sentence(self) -> str:
        """All but the rule and the place in one line."""
        said = f"{self.value} is {self.bound}" if self.value else self.bound
        at = f" ({ports_text(self.ports)})" if len(self.ports) > 1 else ""
        return "; ".join(filter(None, [f"{said}{at}", self.consequence, self.remedy])).replace("?;", "?")


def ports_text(ports: tuple[str, ...]) -> str:
    """Return ports for a sentence: the first few, and how many there are."""
    if len(ports) <= _MOST_PORTS:
        return listed(ports)
    return f"{listed(ports[:2])} and {len(ports) - 2} more ports"


def merged(findings: Iterable[SonicFinding]) -> list[SonicFinding]:
    """Return the findings; those that differ in ports, and in a key that names the port,
    as one at the first of them."""
    found: dict[tuple[object, ...], SonicFinding] = {}
    ports: dict[tuple[object, ...], dict[str, None]] = {}
    for finding in findings:
        alike = _alike(finding)
        found.setdefault(alike, finding)
        ports.setdefault(alike, {}).update(dict.fromkeys(finding.ports))
    return [replace(finding, ports=tuple(ports[alike])) for alike, finding in found.items()]


def _alike(finding: SonicFinding) -> tuple[object, ...]:
    """Return what findings have in common that are told as one."""
    path = tuple(_without_port(word, finding.ports) for word in finding.path)
    return finding.rule, finding.severity, path, finding.value, finding.bound, finding.consequence, finding.remedy


def _without_port(word: str, ports: tuple[str, ...]) -> str:
    head, bar, rest = word.partition("|")
    return f"*{bar}{rest}" if head in ports else word
