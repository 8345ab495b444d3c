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
    "The address families of every link and loopback. Addresses that the topology does not give are assigned. "
    "Addresses of a family that is not named here are not used.",
    unset="the families in the topology; `ipv4` if it has none",
    examples=("dual",),
    fixed="a fabric's addresses are fixed when the lab begins",
)
LIMIT = Key(
    "limit",
    LATER,
    "The virtual time after which a run is cut off if its traffic has not ended. If all traffic has ended, the run "
    "ends by itself.",
    unset="60 s after the last start or stop that is written",
    examples=("10 s",),
    fixed="the run's end is fixed when the lab begins",
)
SEED = Key(
    "seed",
    Number(*ranges.SEED),
    "The seed of everything random: drawn groups, arrivals, sizes, pairs, jitter, ECMP. `--seed` overrides it.",
    default=1,
    fixed="everything random depends on it from the beginning",
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
        Key("links", LINKS, "Settings for all links; they override the topology."),
        Key("switches", SWITCHES, "Buffers, marking, scheduling and PFC of switches; VLANs and port channels."),
        Key(
            "groups",
            GROUPS,
            "Names for sets of hosts, listed or drawn by the seed.",
            fixed="the members of a group are fixed when the lab begins; name the hosts themselves",
        ),
        Key(
            "hosts",
            HOSTS,
            "TCP, MPTCP, NIC and queue of the hosts. A name overrides a range or a group, and these override "
            "`default`.",
        ),
        Key("routing", ROUTING, "How switches get their routes, and detect that a neighbour is gone."),
        Key(
            "traffic",
            TRAFFIC,
            "Which hosts send, how much, to which receivers, and when.",
            required=True,
            fixed="the traffic is fixed when the lab begins",
        ),
        Key(
            "events",
            events(Settings("later-settings", _LATER)),
            "What happens to links, nodes and settings during a run.",
            fixed="the events are fixed when the lab begins",
        ),
        Key(
            "probes",
            PROBES,
            "What is sampled, and how often.",
            unset="the queues of ports that lead to receivers, and switches with a shared buffer",
            fixed="the probes are fixed when the lab begins",
        ),
        Key(
            "validation",
            VALIDATION,
            "What `fabriclab validate` compares the lab with.",
            unset="the lab's own settings",
        ),
        LIMIT,
        SEED,
        *_MANY_RUNS,
    ),
)
