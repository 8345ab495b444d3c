"""What Hadoop's processes sent each other, by their own logs: blocks of HDFS that were read and written (`clienttrace`
of the data nodes), map outputs that reducers fetched (their `syslog.shuffle`).

Sources: BlockReceiver, BlockSender, Fetcher and InMemoryMapOutput of Hadoop 3.4. Logs have milliseconds; how long a
block took is in nanoseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fabriclab.hadoop.ports import SHUFFLE_PORT

Row = dict[str, Any]
TRANSFER_COLUMNS = ("cluster", "phase", "src", "dst", "port", "bytes", "start_ns", "end_ns", "of")
_MS = 10**6
_DATE = r"(?P<date>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})"
_BLOCK = re.compile(
    _DATE + r" \w+ \S*clienttrace: src: /(?P<src>[\d.]+):(?P<src_port>\d+), dest: /(?P<dst>[\d.]+):(?P<dst_port>\d+), "
    r".*?bytes: (?P<bytes>\d+), op: (?P<op>HDFS_READ|HDFS_WRITE), cliID: (?P<client>[^,]+), .*?"
    r"duration\(ns\): (?P<took>\d+)"
)
_FETCH = re.compile(
    _DATE + r" \w+ \[(?P<thread>fetcher#\d+)\] .*about to shuffle output of map (?P<map>attempt_\w+) "
    r"decomp: \d+ len: (?P<bytes>\d+) to \w+"
)
_FETCHED = re.compile(
    _DATE + r" \w+ \[(?P<thread>fetcher#\d+)\] .*[Rr]ead \d+ bytes from map-output for (?P<map>attempt_\w+)"
)
_FETCH_FAILURE = re.compile(
    _DATE + r" \[?\w+\]? \[[Ff]etcher.*?: .*?(?:copyMapOutput failed for tasks \[(?P<maps>[^\]]*)\]"
    r"|Failed to connect (?:from \S+ )?to \S+ with (?P<number>\d+) (?:map outputs|inputs))"
)
_ATTEMPT = re.compile(r"attempt_\w+")


def block_transfers(log: Path, nodes: Mapping[str, str], zero_ns: int) -> Iterator[Row]:
    """Yield what a data node's log says of blocks; `nodes`: names by their addresses."""
    for line in _lines(log):
        match = _BLOCK.match(line)
        if match is None:
            continue
        end_ns = _time(match["date"], zero_ns)
        is_read = match["op"] == "HDFS_READ"
        attempt = _ATTEMPT.search(match["client"])
        yield {
            "phase": "hdfs-read" if is_read else "hdfs-write",
            "src": nodes.get(match["src"], match["src"]),
            "dst": nodes.get(match["dst"], match["dst"]),
            "port": int(match["src_port" if is_read else "dst_port"]),
            "bytes": int(match["bytes"]),
            "start_ns": end_ns - int(match["took"]),
            "end_ns": end_ns,
            "of": _without_number(attempt[0]) if attempt else None,
        }


def fetches(log: Path, reducer: str, where: Mapping[str, str], zero_ns: int) -> Iterator[Row]:
    """Yield what a reducer's log says of the map outputs that it fetched; `where`: the node of each attempt. One that
    did not arrive has no end."""
    begun: dict[tuple[str, str], Row] = {}
    for line in _lines(log):
        if match := _FETCH.match(line):
            begun[match["thread"], match["map"]] = {
                "phase": "shuffle",
                "src": where.get(match["map"]),
                "dst": where.get(reducer),
                "port": SHUFFLE_PORT,
                "bytes": int(match["bytes"]),
                "start_ns": _time(match["date"], zero_ns),
                "end_ns": None,
                "of": reducer,
            }
        elif match := _FETCHED.match(line):
            row = begun.pop((match["thread"], match["map"]), None)
            if row is not None:
                yield row | {"end_ns": _time(match["date"], zero_ns)}
    yield from begun.values()


def fetch_failures(log: Path) -> int:
    """Return how many times a map output did not come, by a reducer's log: where its node could not be reached, where
    it answered otherwise, or where the output broke off. MapReduce's and Tez' say it alike."""
    found = [match for line in _lines(log) if (match := _FETCH_FAILURE.match(line))]
    return sum(int(match["number"]) if match["number"] else len(match["maps"].split(",")) for match in found)


def reducer_of(log: Path) -> str | None:
    """Return the attempt whose log this is."""
    match = re.search(r"(attempt_\d+_\d+_r_\d+_\d+)", "\n".join(_lines(log)))
    return None if match is None else match[1]


def _lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _without_number(client: str) -> str:
    """Return the attempt of a client's name, `attempt_1_0001_r_000000_0_1568698088_1`."""
    return "_".join(client.split("_")[:6])


def _time(date: str, zero_ns: int) -> int:
    moment = datetime.strptime(date, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000) * _MS - zero_ns
