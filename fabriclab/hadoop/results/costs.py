"""What Hadoop's processes waited for disks and processors, as `costs.c` of the machine noted it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabriclab.formats.logs import COST_LOG
from fabriclab.formats.run_directory import COST_LOGS
from fabriclab.results.csv_logs import scan_csv

Row = dict[str, Any]
COST_COLUMNS = ("cluster", "node", "process", "what", "start_ns", "end_ns", "bytes")
DISK = ("disk-read", "disk-write")


def read_costs(run_dir: Path, cluster: str, epoch_ns: int) -> Iterator[Row]:
    """Yield the charges of a cluster's processes, a file after the other; `epoch_ns`: when the traffic began, by their
    clock.

    Raises ResultsError for a file that is not what `costs.c` writes. A cut last line is left out.
    """
    for path in sorted((run_dir / COST_LOGS / cluster).glob("*.csv")):
        node, process = path.name.removesuffix(".csv").split(".", 1)
        scan = scan_csv(path, COST_LOG, f"{COST_LOGS}/{cluster}/{path.name}")
        for row in scan.rows.collect().iter_rows(named=True):
            times = {name: row[name] - epoch_ns for name in ("start_ns", "end_ns")}
            yield {"node": node, "process": process, **row, **times}
