"""How a switch chooses among next hops of equal cost: `switches.NAME.load_balancing`, its keys and their reader.

The words are those of SAI's adaptive routing and switching (saiars.h, saiarsprofile.h) and of SONiC's `sonic-ars.yang`,
where these have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabriclab.formats import ranges
from fabriclab.formats.load_balancing import MODES, Mode
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import Number, Quantity
from fabriclab.keys.values import Word
from fabriclab.keys.wording import shown
from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section
from fabriclab.units import DURATION, SIZE

_SWITCHES = "switches"
MODE = Key(
    "mode",
    Word[Mode](MODES),
    "What a packet's next hop is chosen by: `flow`, the hash of its five-tuple; `flowlet-random` and "
    "`flowlet-quality`, anew after each pause of a flow; `packet-random` (spraying), `packet-round-robin` and "
    "`packet-quality` (adaptive routing), for each packet. `quality` is the load of the port.",
    default="flow",
)
HASH_SEED = Key(
    "hash_seed",
    Number(*ranges.HASH_SEED, "a whole number"),
    "The seed of the hash. Switches with the same seed choose alike.",
    unset="a number made of the switch's name and the run's seed",
    examples=(17,),
)
IDLE_TIME = Key(
    "idle_time",
    Quantity(DURATION, *ranges.IDLE_TIME),
    "A flow that sends no packet for longer than this starts a new flowlet.",
    default=256_000,
    source="SAI: SAI_ARS_ATTR_IDLE_TIME",
)
MAX_FLOWS = Key(
    "max_flows",
    Number(*ranges.FLOWLETS),
    "The places of the table of flowlets. Flows whose hashes lead to one place share their flowlets.",
    default=512,
    source="SAI: SAI_ARS_ATTR_MAX_FLOWS",
)
LOAD_MIN = Key(
    "load_min",
    Quantity(SIZE, *ranges.PORT_LOAD),
    "A port with at most this much to send is in the best band.",
    default=0,
)
LOAD_MAX = Key(
    "load_max",
    Quantity(SIZE, *ranges.PORT_LOAD),
    "A port with more than this to send is in the worst band. Six bands of one width are between the two.",
    unset="`load_min` and six of the switch's largest frames, so a band is a frame",
    examples=("9 KB",),
)
LOAD_BALANCING = Keys(
    "load-balancing",
    "The choice among next hops of equal cost",
    (MODE, HASH_SEED, IDLE_TIME, MAX_FLOWS, LOAD_MIN, LOAD_MAX),
)
LOAD_BALANCING_KEY = Key("load_balancing", LOAD_BALANCING, "How packets are spread over paths of equal cost.")


def read_load_balancing(
    root: Section, names: Names, configured: Mapping[str, WrittenLoadBalancing]
) -> Mapping[str, WrittenLoadBalancing]:
    """Return what is written of each switch of which anything is; what is wrong is recorded.

    `configured`: what switches' own configurations say. The experiment overrides it, key by key.
    """
    switches = root.section(_SWITCHES, None)
    layers: dict[str, WrittenLoadBalancing] = {}
    if switches is not None:
        layers = {name: one for name in switches.names() if (one := _read(switches, name)) is not None}
    found = {}
    for switch in names.switches:
        own = [configured[switch]] if switch in configured else []
        own += [layers[name] for name in ("default", switch) if name in layers]
        if own:
            found[switch] = _together(own)
    for one in {id(each.load_min or each.load_max): each for each in found.values()}.values():
        _check_loads(one, root.problems)
    return found


def _read(switches: Section, name: str) -> WrittenLoadBalancing | None:
    section = switches.section(name, None) if isinstance(switches.get(name), type(switches.mapping)) else None
    own = None if section is None else section.section(LOAD_BALANCING_KEY.name, LOAD_BALANCING)
    return None if own is None else own.fill(WrittenLoadBalancing, LOAD_BALANCING)


def _together(layers: list[WrittenLoadBalancing]) -> WrittenLoadBalancing:
    """Return what layers say, each key of a later one over those before it."""
    first, *others = layers
    for layer in others:
        written = {name: value for name in LOAD_BALANCING.names if (value := getattr(layer, name)) is not None}
        first = replace(first, **written)
    return first


def _check_loads(written: WrittenLoadBalancing, problems: Problems) -> None:
    least, most = written.load_min, written.load_max
    if most is not None and most.value <= LOAD_MIN.or_default(least):
        than = "0 B" if least is None else least.text
        most.complain(problems, f"{shown(most.text)} is not above load_min, {than}; write more")
