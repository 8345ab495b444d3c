"""What spans many runs: parameters, variants, matrices, checks, and the figures of the report."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.figures import FIGURES
from fabriclab.lab.figures import FIGURE_KEYS, HIGHEST_QUEUE
from fabriclab.lab.metrics import TRAFFIC_METRICS, WHOLE_METRICS
from fabriclab.lab.study import OPERATORS, SEED, VARIANT
from fabriclab.language.keys import Key, Keys, Kinds, Named
from fabriclab.language.paths import Settings, pattern
from fabriclab.language.sources import plain, words
from fabriclab.language.values import Either, Flag, Items, Number, Quantity, Several, Text, Value, Word
from fabriclab.units import SIZE

_EVERY_METRIC = tuple(dict.fromkeys((*WHOLE_METRICS, *TRAFFIC_METRICS)))
_METRIC = Either(
    (
        Word(WHOLE_METRICS),
        Text(
            "one of a traffic, a port, a queue or a pool, such as `fct_p99_ns[query]`",
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

CHECK = Keys(
    "check",
    "A condition on a number of the summary",
    (
        METRIC,
        Key("operator", Word(OPERATORS), "How the number is compared.", required=True),
        Key(
            "value",
            Text("a number in the metric's unit, such as `900 Mbps`"),
            "What it is compared with.",
            examples=("900 Mbps", "9.2 ms", 0),
            required=True,
        ),
        Key(
            "where",
            Named(Text("a value"), "a mapping of parameters to a value"),
            "Only points with these parameters are checked.",
            words("all points"),
        ),
    ),
)

_OF_FIGURES: Mapping[str, Key] = {
    key.name: key
    for key in (
        METRIC,
        Key(
            "x",
            Text("a parameter"),
            "The horizontal axis: a parameter. Values that are no numbers become categories.",
            required=True,
        ),
        Key("series", _PARAMETERS, "Parameters of which each value has a line of its own."),
        Key("log_x", Flag(), "Whether the horizontal axis is logarithmic.", plain(False)),
        Key("port", Text("a port, `node:interface`"), "The port that is shown."),
        Key("queue", Number(0, HIGHEST_QUEUE), "One of the port's queues, of a switch with a shared buffer."),
        Key("traffic", _TRAFFIC, "Whose flows are shown.", words("all traffic")),
        Key(
            "bins",
            Several(Quantity(SIZE), "sizes in rising order"),
            "The upper bounds of bins of flow sizes; there is one more bin above.",
            examples=(("100 KB", "10 MB"),),
        ),
        Key("switch", Text("a switch with a shared buffer"), "The switch that is shown."),
        Key(
            "where",
            Named(_WORDS, "a mapping of parameters to a value or a list of values"),
            "Of a sweep only these points are shown.",
            words("all points"),
        ),
    )
}
_PORT_BY_KIND = {
    "queue": words("the port with the longest mean queue"),
    "queue-distribution": words("the port with the longest mean queue"),
    "drops": words("all ports"),
}


def _figure(kind: str) -> Keys:
    title = next(figure.title for figure in FIGURES if figure.name == kind) or "A metric over a parameter"
    keys = [Key("kind", Word((kind,)), f"{title}.", required=True)]
    for name in FIGURE_KEYS[kind][1:]:
        key = _OF_FIGURES[name]
        default = _PORT_BY_KIND.get(kind) if name == "port" else key.default
        keys.append(Key(name, key.value, key.about, default, key.examples, key.required))
    return Keys(f"figure-{kind}", kind, tuple(keys))


FIGURE = Kinds(
    "figure",
    "A figure of the report",
    {kind: _figure(kind) for kind in FIGURE_KEYS},
    "Which figure it is.",
)
REPORT = Keys(
    "report",
    "The report",
    (Key("figures", Items(FIGURE, "a list of figures"), "The figures, in this order.", words("what was measured")),),
)


def study(sections: Mapping[str, Value]) -> tuple[Key, ...]:
    """Return the keys of an experiment that span runs; `sections` are those whose keys can be set."""
    dotted = Text(
        "a dotted key",
        rf"\s*(?:{pattern(sections)})\s*(?:,.*)?",
        "No key that can be set: write it with dots, such as hosts.default.rto_min.",
    )
    return (
        Key(
            "question",
            Text("a text"),
            "What the lab asks, in one line; `fabriclab labs` and the README list it.",
            examples=("What does a small buffer cost an in-cast?",),
        ),
        Key(
            "minutes",
            Text("a number of minutes", ""),
            "What the first matrix takes of one CPU, as `tests/bench/labs.py` measures it; `fabriclab labs` lists it.",
            examples=("2.5",),
        ),
        Key(
            "parameters",
            Named(
                Several(dotted, "a dotted key or a list of them", text=dotted),
                "a mapping of names to dotted keys",
                rf"(?!(?:{VARIANT}|{SEED})$)(?:[^.]|\.\.)+",
                f"A parameter's name has no dots, and is neither '{VARIANT}' nor '{SEED}'.",
            ),
            "Short names of keys, for matrices, `--set`, checks and figures.",
        ),
        Key(
            "variants",
            Named(
                Settings("settings", sections),
                "a mapping of names to dotted keys with their values",
            ),
            "Names of values that are set together.",
        ),
        Key(
            "matrix",
            Named(
                Named(
                    Either(
                        (Items(Text("a value"), "a list of values", 1), Text("one value, or a range such as `1..50`"))
                    ),
                    "a mapping of axes: a parameter, `variant`, `seed` or a dotted key",
                ),
                "a mapping of names to axes with their values",
            ),
            "Products of axes, by name; each point of one is a run. `fabriclab sweep` runs the first.",
        ),
        Key(
            "checks",
            Items(CHECK, "a list of checks"),
            "Conditions on numbers of the summary; a run that does not meet them ends with exit status 1.",
        ),
        Key("report", REPORT, "What the report shows."),
    )
