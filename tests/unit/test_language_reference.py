"""labs/README.md has every word of the language that the readers know."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import fabriclab.lab
from fabriclab.lab.figures import FIGURE_KEYS
from fabriclab.lab.hosts.transport import HOST_KEYS
from fabriclab.lab.reading import defaults
from fabriclab.lab.traffic.carrier import CARRIER_KEYS
from fabriclab.lab.traffic.read import keys_of_kinds
from fabriclab.units import format_duration, format_size

REFERENCE = (Path(__file__).parents[2] / "labs" / "README.md").read_text(encoding="utf-8")
OTHER_LANGUAGES = ("fabriclab.lab.network.containerlab",)
OF_EVERY_KIND = ("kind", "enabled", *CARRIER_KEYS)
OF_PAIRS = ("hot_spots", "hot_share")
"""They have a paragraph of their own, as several kinds have them."""


def lists_of_keys() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each list of keys that a reader has, with where it stands: `fabriclab.lab.routing.ROUTING_KEYS`."""
    for module in pkgutil.walk_packages(fabriclab.lab.__path__, "fabriclab.lab."):
        if module.name.startswith(OTHER_LANGUAGES):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if not name.endswith("KEYS"):
                continue
            if isinstance(value, tuple):
                yield f"{module.name}.{name}", value
            elif isinstance(value, dict):
                for key, below in value.items():
                    yield f"{module.name}.{name}[{key}]", (key, *below)


LISTS = dict(lists_of_keys())


def table_rows() -> dict[str, str]:
    """Return the tables' rows by their first cell."""
    rows = re.findall(r"^\| ([^|]+?) \| (.+) \|$", REFERENCE, flags=re.MULTILINE)
    return dict(rows)


def has_word(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def test_the_lists_are_found() -> None:
    words = {word for keys in LISTS.values() for word in keys}
    assert {"traffic", "rto_min", "xon_offset", "detection", "hot_share", "path_manager", "recovery", "log_x"} <= words


@pytest.mark.parametrize("where", LISTS)
def test_every_key_is_explained(where: str) -> None:
    missing = [key for key in LISTS[where] if not has_word(key, REFERENCE)]
    assert not missing, f"labs/README.md says nothing of {', '.join(missing)} ({where})"


@pytest.mark.parametrize("kind", keys_of_kinds())
def test_a_kind_of_traffic_has_its_keys_in_its_row(kind: str) -> None:
    row = table_rows()[kind]
    missing = [
        key for key in keys_of_kinds()[kind] if key not in (*OF_EVERY_KIND, *OF_PAIRS) and not has_word(key, row)
    ]
    assert not missing, f"the row of {kind} lacks {', '.join(missing)}"


def test_every_key_of_a_host_has_a_row() -> None:
    cells = {word for cell in table_rows() for word in cell.split(", ")}
    assert set(HOST_KEYS) <= cells


@pytest.mark.parametrize("kind", FIGURE_KEYS)
def test_every_kind_of_figure_has_a_row_with_its_keys(kind: str) -> None:
    keys = [key for key in FIGURE_KEYS[kind] if key not in ("kind", "where")]
    rows = [row for cell, row in table_rows().items() if kind in cell.split(", ")]
    assert has_word(kind, table_rows()["report"])
    assert any(all(has_word(key, row) for key in keys) for row in rows), (
        f"no row of {kind} has all of {', '.join(keys)}"
    )


def test_defaults_of_hosts_are_those_of_the_code() -> None:
    written = {key: row.rpartition(" | ")[2] for key, row in table_rows().items()}
    buffers = (defaults.RECEIVE_BUFFER_BYTES, defaults.SEND_BUFFER_BYTES)
    expected = {
        "congestion_control": defaults.CONGESTION_CONTROL,
        "ecn": defaults.ECN,
        "rto_min": format_duration(defaults.RTO_MIN_NS),
        "delayed_ack": str(defaults.DELAYED_ACK).lower(),
        "initial_window": str(defaults.INITIAL_WINDOW_SEGMENTS),
        "receive_buffer, send_buffer": ", ".join(f"{size // 2**20} MiB" for size in buffers),
        "queue": format_size(defaults.HOST_QUEUE_BYTES),
    }
    assert {key: written[key] for key in expected} == expected
