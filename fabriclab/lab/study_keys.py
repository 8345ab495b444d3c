"""The keys of an experiment that span runs: parameters, variants, matrices, checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.paths import DottedKey, Settings
from fabriclab.keys.values import Either, Items, Several, Text, Value, Word
from fabriclab.lab.figure_keys import METRIC, REPORT

VARIANT = "variant"
"""The axis and setting that names a variant."""
SEED = "seed"
"""The axis and setting that is the run's seed."""
OPERATORS: Word[str] = Word(("<", "<=", ">", ">=", "=="))
CHECK_OPERATOR = Key("operator", OPERATORS, "How the number is compared.", required=True)
CHECK = Keys(
    "check",
    "A condition on a number of the summary",
    (
        METRIC,
        CHECK_OPERATOR,
        Key(
            "value",
            Text("a number in the metric's unit, such as `900 Mbps`"),
            "The value that the number is compared with.",
            examples=("900 Mbps", "9.2 ms", 0),
            required=True,
        ),
        Key(
            "where",
            Named(Text("a value"), "a mapping of parameters to a value"),
            "Only points with these parameters are checked.",
            unset="all points",
        ),
    ),
)


def study(sections: Mapping[str, Value[Any]]) -> tuple[Key[Any], ...]:
    """Return the keys of an experiment that span runs; `sections` are those whose keys can be set."""
    dotted = DottedKey(sections)
    return (
        Key(
            "question",
            Text("a text"),
            "The lab's question, in one line. `fabriclab labs` and the README list it.",
            examples=("What does a small buffer cost an in-cast?",),
        ),
        Key(
            "minutes",
            Text("a number of minutes", ""),
            "The minutes that the first matrix takes on one CPU, as `tests/bench/labs.py` measures it. `fabriclab "
            "labs` lists it.",
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
            "Products of axes, by name. Each point of a product is a run. `fabriclab sweep` runs the first product.",
        ),
        Key(
            "checks",
            Items(CHECK, "a list of checks"),
            "Conditions on numbers of the summary. A run that does not meet them ends with exit status 1.",
        ),
        Key("report", REPORT, "What the report shows."),
    )
