"""The options of `fabriclab convert --from chakra`, and what their words mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fabriclab.errors import ArgumentError

if TYPE_CHECKING:
    from fabriclab.flow_importers.chakra.options import ChakraOptions

_PANEL = "Options of --from chakra"

Algorithms = Annotated[
    list[str] | None,
    typer.Option(
        "--algorithm",
        metavar="OPERATION=NAME",
        help="The algorithm of a collective, such as all-reduce=tree. Repeatable.",
        show_default="ring; of all-to-all direct",
        rich_help_panel=_PANEL,
    ),
]
Chunks = Annotated[
    int, typer.Option(min=1, help="Parts of a channel's data that flow independently.", rich_help_panel=_PANEL)
]
Channels = Annotated[
    int,
    typer.Option(
        min=1, help="Connections that two ranks divide the data of a collective among.", rich_help_panel=_PANEL
    ),
]
PeakTflops = Annotated[
    float | None,
    typer.Option(
        help="Peak of a rank in TFLOPS, for computations with num_ops and without a duration.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
MemoryGbPerS = Annotated[
    float | None,
    typer.Option(
        help="Memory bandwidth of a rank in GB/s, for nodes with tensor_size and without a duration.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
DefaultDurationNs = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="How long a node takes, in nanoseconds, whose duration is not known otherwise.",
        show_default="an error",
        rich_help_panel=_PANEL,
    ),
]
GroupsFile = Annotated[
    Path | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help='Process groups as JSON, as ASTRA-sim has them: {"1": [0, 1], "2": [2, 3]}.',
        show_default="those in the trace",
        rich_help_panel=_PANEL,
    ),
]
Dimensions = Annotated[
    str | None,
    typer.Option(
        metavar="N,N,...",
        help="Sizes of the dimensions that `involved_dim` means; the first varies fastest.",
        show_default="one of all ranks",
        rich_help_panel=_PANEL,
    ),
]
Communications = Annotated[
    Literal["group", "one"],
    typer.Option(
        help="group: collectives of one process group follow each other, others overlap (NCCL). one: a rank has one "
        "collective or send at a time (ASTRA-sim).",
        rich_help_panel=_PANEL,
    ),
]


def options_of(
    algorithms: Sequence[str],
    chunks: int,
    channels: int,
    peak_tflops: float | None,
    memory_gb_per_s: float | None,
    default_duration_ns: int | None,
    groups: Path | None,
    dimensions: str | None,
    communications: Literal["group", "one"],
) -> ChakraOptions:
    """Return the options as the importer has them. Raises ArgumentError."""
    from fabriclab.flow_importers.chakra.options import ChakraOptions

    return ChakraOptions(
        algorithms=dict(_algorithm(written) for written in algorithms),
        chunks=chunks,
        channels=channels,
        peak_tflops=peak_tflops,
        memory_gb_per_s=memory_gb_per_s,
        default_duration_ns=default_duration_ns,
        groups={} if groups is None else _groups(groups),
        dimensions=() if dimensions is None else _sizes(dimensions),
        communications=communications,
    )


def _algorithm(written: str) -> tuple[str, str]:
    operation, equals, algorithm = written.partition("=")
    if not equals:
        raise ArgumentError("--algorithm {0!r}: must be OPERATION=NAME, such as all-reduce=tree", written)
    return operation, algorithm


def _sizes(written: str) -> tuple[int, ...]:
    words = written.split(",")
    if not all(word.isascii() and word.isdigit() for word in words):
        raise ArgumentError(
            "--dimensions {0!r}: must be numbers of ranks with commas between them, such as 8,4", written
        )
    return tuple(int(word) for word in words)


def _groups(file: Path) -> dict[str, list[int]]:
    # `--help` does not wait for what reads labs.
    from fabriclab.lab.reading.files import LARGEST_TABLE_BYTES, UnreadableError, read_named_file

    try:
        found = json.loads(read_named_file(file, LARGEST_TABLE_BYTES))
        return {str(name): [int(rank) for rank in ranks] for name, ranks in found.items()}
    except UnreadableError as error:
        raise ArgumentError("--groups {0}: {1}", file, error) from error
    except (ValueError, TypeError, AttributeError) as error:
        wanted = '{"1": [0, 1], "2": [2, 3]}'
        raise ArgumentError("--groups {0}: {1}; it must be JSON such as {2}", file, error, wanted) from error
