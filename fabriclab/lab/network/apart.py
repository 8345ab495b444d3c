"""Nodes that no link joins with another one, such as a container that collects statistics: Containerlab deploys them
beside the lab, on its management network alone, which the virtual machine does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from fabriclab.keys.wording import listed
from fabriclab.lab.network import containerlab
from fabriclab.lab.network.kinds import ALL_KINDS, LINUX
from fabriclab.lab.network.labels import PREFIX
from fabriclab.lab.network.not_applied import is_own_image
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Section
from fabriclab.lab.setup.read import KEYS, WrittenSetup
from fabriclab.registry.vendors import kind_of

_ENDS = 2


def count_links(topology: Section, nodes: Collection[str]) -> Counter[str]:
    """Return how many links each node has to other nodes, before anything of them is checked."""
    links = topology.get("links")
    counts: Counter[str] = Counter()
    for link in links.items if isinstance(links, SequenceValue) else ():
        if isinstance(link, MappingValue):
            counts.update(_joined(link, nodes))
    return counts


def _joined(link: MappingValue, nodes: Collection[str]) -> Iterable[str]:
    """Return the nodes at the ends of a link; none of one that leads out of the lab."""
    kind = link.entries.get("type")
    ends = link.entries.get("endpoints")
    if not isinstance(ends, SequenceValue) or (isinstance(kind, ScalarValue) and kind.text != "veth"):
        return ()
    names = [node_of(end) for end in ends.items]
    leads_out = any(name in containerlab.SPECIAL_NODES and name not in nodes for name in names)
    return () if leads_out or len(names) != _ENDS else names


def node_of(end: Value | None) -> str:
    """Return the node that one end of a link names; an empty text where it names none."""
    if isinstance(end, MappingValue):
        node = end.entries.get("node")
        return node.text.strip() if isinstance(node, ScalarValue) else ""
    return end.text.partition(":")[0].strip() if isinstance(end, ScalarValue) else ""


def stands_apart(kind: str | None, layers: Sequence[Section]) -> bool:
    """Return whether a node without a link is somebody's container beside a lab.

    A node of which the lab says more is one whose link was forgotten: it has a label of ours, a switch's configuration,
    or an image of ours and nothing to do. `layers`: the node and what it inherits from, the nearest first.
    """
    if kind not in ALL_KINDS or kind_of(kind) is not None or any(map(_is_labelled, layers)):
        return False
    image = next((value.text for layer in layers if isinstance(value := layer.get("image"), ScalarValue)), "")
    has_image = bool(image) and not is_own_image(image)
    return kind != LINUX or has_image or any(key in layers[0] for key in KEYS)


def _is_labelled(layer: Section) -> bool:
    labels = layer.get("labels")
    return isinstance(labels, MappingValue) and any(name.startswith(PREFIX) for name in labels.entries)


def apart_sentences(apart: Mapping[str, Place], written: Mapping[str, WrittenSetup]) -> Iterator[str]:
    """Yield a sentence on each node that stands apart; `written`: what the others wait for."""
    for name, place in apart.items():
        waiting = [other for other, setup in written.items() if any(wait.value == name for wait in setup.waits)]
        verb = "does" if len(waiting) == 1 else "do"
        no_wait = f"; {listed(waiting)} {verb} not wait for it" if waiting else ""
        yield f"{name} (line {place.line}) is left out: no link joins it with another node{no_wait}"
