"""The keys of the report's figures: what each kind may say."""

from __future__ import annotations

from typing import Any

from fabriclab.formats.figures import FIGURES, FigureKind
from fabriclab.keys.mappings import Key, Keys, Kinds, Named
from fabriclab.keys.quantities import Flag, Number, Quantity
from fabriclab.keys.values import Either, Items, Several, Text, Word
from fabriclab.lab.metrics import TRAFFIC_METRICS, WHOLE_METRICS
from fabriclab.units import SIZE

HIGHEST_QUEUE = 7
"""The highest number of a queue at a port of a switch with a shared buffer."""
_EVERY_METRIC = tuple(dict.fromkeys((*WHOLE_METRICS, *TRAFFIC_METRICS)))
_METRIC: Either[str] = Either(
    (
        Word[str](WHOLE_METRICS),
        Text(
            "a metric of one traffic, port, queue or pool, such as `fct_p99_ns[query]`",
            rf"\s*(?:{'|'.join(sorted(_EVERY_METRIC))})\[[^\]]+\]\s*",
        ),
    )
)
METRIC = Key(
    "metric",
    _METRIC,
    "A number of the run's summary; docs/metrics.md defines them all.",
    examples=("goodput_bps", "fct_p99_ns[query]", "queue_mean_bytes[s1:eth1]"),
    required=True,
)
_WORDS = Several(Text("a value"), "a value or a list of values")
_PARAMETERS = Several(Text("a parameter"), "parameters, a list or one")
_TRAFFIC = Several(Text("a name of traffic"), "names of traffic, a list or one")

FIGURE_X = Key(
    "x",
    Text("a parameter"),
    "The horizontal axis: a parameter. Values that are not numbers become categories.",
    required=True,
)
FIGURE_SERIES = Key("series", _PARAMETERS, "Parameters; each of their values has a line of its own.")
FIGURE_LOG_X = Key("log_x", Flag(), "Whether the horizontal axis is logarithmic.", default=False)
FIGURE_PORT = Key("port", Text("a port, `node:interface`"), "The port that is shown.")
FIGURE_QUEUE = Key("queue", Number(0, HIGHEST_QUEUE), "One of the port's queues, if the switch has a shared buffer.")
FIGURE_TRAFFIC = Key("traffic", _TRAFFIC, "The traffic whose flows are shown.", unset="all traffic")
FIGURE_BINS = Key(
    "bins",
    Several(Quantity(SIZE), "sizes in rising order"),
    "The upper bounds of the bins of flow sizes. One more bin lies above the last bound.",
    examples=(("100 KB", "10 MB"),),
)
FIGURE_SWITCH = Key("switch", Text("a switch with a shared buffer"), "The switch that is shown.")
FIGURE_WHERE = Key(
    "where",
    Named(_WORDS, "a mapping of parameters to a value or a list of values"),
    "Only these points of a sweep are shown.",
    unset="all points",
)
_OF_FIGURES: dict[str, Key[Any]] = {
    key.name: key
    for key in (
        *(METRIC, FIGURE_X, FIGURE_SERIES, FIGURE_LOG_X, FIGURE_PORT, FIGURE_QUEUE, FIGURE_TRAFFIC, FIGURE_BINS),
        *(FIGURE_SWITCH, FIGURE_WHERE),
    )
}
_LONGEST_QUEUE = FIGURE_PORT.but(unset="the port with the longest mean queue")
_PORTS = {"queue": _LONGEST_QUEUE, "queue-distribution": _LONGEST_QUEUE, "drops": FIGURE_PORT.but(unset="all ports")}
"""The key `port` of figures that choose a port where it is not written."""


def _figure(kind: FigureKind) -> Keys:
    own = {"port": _PORTS[kind.name]} if kind.name in _PORTS else {}
    word = Key("kind", Word[str]((kind.name,)), f"{kind.title or 'A metric over a parameter'}.", required=True)
    keys = {**_OF_FIGURES, **own}
    return Keys(f"figure-{kind.name}", kind.name, (word, *(keys[name] for name in (*kind.keys, "where"))))


FIGURE = Kinds(
    "figure",
    "A figure of the report",
    {kind.name: _figure(kind) for kind in FIGURES},
    "The kind of the figure.",
)
REPORT = Keys(
    "report",
    "The report",
    (Key("figures", Items(FIGURE, "a list of figures"), "The figures, in this order.", unset="what was measured"),),
)
