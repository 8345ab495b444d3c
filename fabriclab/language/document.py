"""The files of the language as a whole, and their JSON schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriclab.lab.experiment import LARGEST_SEED
from fabriclab.lab.traffic.bounds import LONGEST_NS
from fabriclab.language import fabric
from fabriclab.language.hosts import HOSTS
from fabriclab.language.keys import Key, Keys, Named
from fabriclab.language.paths import Settings
from fabriclab.language.sources import constant, words
from fabriclab.language.study import study
from fabriclab.language.switches import PROFILE, SWITCHES
from fabriclab.language.traffic import TRAFFIC
from fabriclab.language.validating import VALIDATION
from fabriclab.language.values import Number, Quantity, Schema, Shared, Text, Value
from fabriclab.units import DURATION

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that the YAML extensions of editors support best; newer ones have nothing that this language needs."""

_LIMIT = Quantity(DURATION, 1, LONGEST_NS)
_SEED = Number(0, LARGEST_SEED)
_LATER: Mapping[str, Value] = {
    "links": fabric.LINKS,
    "switches": SWITCHES,
    "hosts": HOSTS,
    "routing": fabric.ROUTING,
}
"""Sections whose keys can be set while a lab runs."""
SETTABLE: Mapping[str, Value] = {
    "addresses": fabric.ADDRESSES_WORD,
    **_LATER,
    "groups": Named(fabric.DRAWN_GROUP, ""),
    "traffic": TRAFFIC,
    "events": Named(fabric.EVENT, ""),
    "probes": fabric.PROBES,
    "limit": _LIMIT,
    "seed": _SEED,
}
"""Sections whose keys parameters, variants, matrices and `--set` reach."""

_ONE_LINE, *_MANY_RUNS = study(SETTABLE)
EXPERIMENT = Keys(
    "experiment",
    "An experiment of fabriclab (experiment.yml)",
    (
        Key(
            "title",
            Text("a text"),
            "What the lab shows, in one line.",
            required=True,
            examples=("In-cast over a small switch",),
        ),
        _ONE_LINE,
        Key("study", Text("a short name, such as `S2`"), "The published result that the lab reproduces."),
        Key(
            "addresses",
            fabric.ADDRESSES_WORD,
            "Which families every link, and every loopback, has addresses of; those that the topology does not write "
            "are assigned. What the topology writes of a family that is not named here is not used.",
            words("what the topology writes; `ipv4` where it writes none"),
            ("dual",),
        ),
        Key("links", fabric.LINKS, "What holds for all links, over what the topology says."),
        Key("switches", SWITCHES, "Buffers, marking, scheduling and PFC of switches; VLANs and port channels."),
        Key("groups", fabric.GROUPS, "Names for sets of hosts, given or drawn by the seed."),
        Key(
            "hosts",
            HOSTS,
            "TCP, MPTCP and the own queue of hosts. A name wins over a range or a group, these over `default`.",
        ),
        Key("routing", fabric.ROUTING, "How switches come by their routes, and notice that a neighbour is gone."),
        Key("traffic", TRAFFIC, "Who sends how much to whom, and when.", required=True),
        Key(
            "events",
            fabric.events(Settings("later-settings", _LATER)),
            "What happens to links, nodes and settings during a run.",
        ),
        Key(
            "probes",
            fabric.PROBES,
            "What is sampled, and how often.",
            words("the queues that face receivers, and switches with a shared buffer"),
        ),
        Key(
            "validation",
            VALIDATION,
            "What `fabriclab validate` compares the lab with.",
            words("what the lab is"),
        ),
        Key(
            "limit",
            _LIMIT,
            "The virtual time after which a run is cut if its traffic has not ended. Where all of it has, the run "
            "ends by itself.",
            words("60 s after the last start or stop that is written"),
            ("10 s",),
        ),
        Key(
            "seed",
            _SEED,
            "The seed of everything random: drawn groups, arrivals, sizes, pairs, jitter, ECMP. `--seed` wins over it.",
            constant("SEED"),
        ),
        *_MANY_RUNS,
    ),
)
SCHEMAS: Mapping[str, Keys] = {"experiment": EXPERIMENT, "switch-profile": PROFILE}
"""The files that have a schema, by the name that `fabriclab schema` knows them by."""


def schema_of(name: str) -> Schema:
    """Return the JSON schema of one of SCHEMAS, draft-07, as plain data. Raises KeyError for another name."""
    root = SCHEMAS[name]
    definitions = {part.name: part.body() for part in _shared(root)}
    body = root.body()
    return {"$schema": DRAFT, "$id": f"fabriclab:{name}", **body, "definitions": dict(sorted(definitions.items()))}


def _shared(value: Value) -> Iterator[Shared]:
    """Yield all below a value that the schema refers to by name."""
    for part in value.parts():
        if isinstance(part, Shared):
            yield part
        yield from _shared(part)
