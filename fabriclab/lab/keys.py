"""All keys of an experiment (`experiment.yml`): the root of the records, and which of them can be set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.paths import Settings
from fabriclab.keys.quantities import Number
from fabriclab.keys.values import Text, Value
from fabriclab.lab.event_keys import EVENT, events
from fabriclab.lab.groups import DRAWN_GROUP, GROUPS
from fabriclab.lab.hosts.keys import HOSTS
from fabriclab.lab.network.keys import ADDRESSES_WORD, LINKS
from fabriclab.lab.probe_keys import PROBES
from fabriclab.lab.routing import ROUTING
from fabriclab.lab.study_keys import study
from fabriclab.lab.switch.keys import SWITCHES
from fabriclab.lab.traffic.keys import LATER, TRAFFIC
from fabriclab.lab.validation_keys import VALIDATION

ADDRESSES = Key(
    "addresses",
    ADDRESSES_WORD,
    "Which families every link, and every loopback, has addresses of; those that the topology does not write "
    "are assigned. What the topology writes of a family that is not named here is not used.",
    unset="what the topology writes; `ipv4` where it writes none",
    examples=("dual",),
    fixed="a fabric's addresses are fixed when the lab begins",
)
LIMIT = Key(
    "limit",
    LATER,
    "The virtual time after which a run is cut if its traffic has not ended. Where all of it has, the run "
    "ends by itself.",
    unset="60 s after the last start or stop that is written",
    examples=("10 s",),
    fixed="the run's end is fixed when the lab begins",
)
SEED = Key(
    "seed",
    Number(*ranges.SEED),
    "The seed of everything random: drawn groups, arrivals, sizes, pairs, jitter, ECMP. `--seed` wins over it.",
    default=1,
    fixed="all that is random hangs on it from the beginning",
)
_LATER: Mapping[str, Value[Any]] = {
    "links": LINKS,
    "switches": SWITCHES,
    "hosts": HOSTS,
    "routing": ROUTING,
}
"""Sections whose keys can be set while a lab runs."""
SETTABLE: Mapping[str, Value[Any]] = {
    "addresses": ADDRESSES_WORD,
    **_LATER,
    "groups": Named(DRAWN_GROUP, "", source="document"),
    "traffic": TRAFFIC,
    "events": Named(EVENT, "", source="document"),
    "probes": PROBES,
    "limit": LATER,
    "seed": SEED.value,
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
        ADDRESSES,
        Key("links", LINKS, "What holds for all links, over what the topology says."),
        Key("switches", SWITCHES, "Buffers, marking, scheduling and PFC of switches; VLANs and port channels."),
        Key(
            "groups",
            GROUPS,
            "Names for sets of hosts, given or drawn by the seed.",
            fixed="who is in a group is fixed when the lab begins; name the hosts themselves",
        ),
        Key(
            "hosts",
            HOSTS,
            "TCP, MPTCP and the own queue of hosts. A name wins over a range or a group, these over `default`.",
        ),
        Key("routing", ROUTING, "How switches come by their routes, and notice that a neighbour is gone."),
        Key(
            "traffic",
            TRAFFIC,
            "Who sends how much to whom, and when.",
            required=True,
            fixed="what is sent is fixed when the lab begins",
        ),
        Key(
            "events",
            events(Settings("later-settings", _LATER)),
            "What happens to links, nodes and settings during a run.",
            fixed="what happens is fixed when the lab begins",
        ),
        Key(
            "probes",
            PROBES,
            "What is sampled, and how often.",
            unset="the queues that face receivers, and switches with a shared buffer",
            fixed="what is sampled is fixed when the lab begins",
        ),
        Key(
            "validation",
            VALIDATION,
            "What `fabriclab validate` compares the lab with.",
            unset="what the lab is",
        ),
        LIMIT,
        SEED,
        *_MANY_RUNS,
    ),
)
