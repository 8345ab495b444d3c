"""What YARN says of applications that have ended: a line each of the ResourceManager's log, `ApplicationSummary`.

It is all there is of a job whose history was lost: with its application master, or because HDFS was full. What its
attempts said the client of the job has written down. Source: RMAppManager of Hadoop 3.4; times are milliseconds of the
cluster's date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fabriclab.hadoop.results.history import Row

_MS = 10**6
_SUMMARY = re.compile(
    r".*\$ApplicationSummary: appId=application_(?P<job>\d+_\d+),name=(?P<name>.*),user=.*,submitTime=(?P<submit>\d+),"
    r"startTime=\d+,launchTime=(?P<launch>\d+),finishTime=(?P<end>\d+),finalStatus=(?P<status>\w+),.*"
    r",diagnostics=(?P<diagnostics>.*),totalAllocatedContainers="
)
_ATTEMPT_FAILED = re.compile(r"Task Id : attempt_(?P<job>\d+_\d+)_\w+, Status : FAILED\n(?P<error>.+)")


def read_applications(manager_log: Path, zero_ns: int) -> Iterator[Row]:
    """Yield the row of each application that has ended: its job, name, times, status and diagnostics.

    `zero_ns`: what the cluster's date was at the epoch.
    """
    for line in _text(manager_log).splitlines():
        if match := _SUMMARY.match(line):
            times = {
                f"{key}_ns": int(match[key]) * _MS - zero_ns for key in ("submit", "launch", "end") if match[key] != "0"
            }
            said = _plain(match["diagnostics"]).strip() or None
            yield {
                "job_id": f"job_{match['job']}",
                "name": _plain(match["name"]),
                **times,
                "status": match["status"],
                "diagnostics": said,
            }


def errors_told(client_log: Path) -> dict[str, str]:
    """Return of each job what its client was told first of an attempt that failed."""
    found: dict[str, str] = {}
    for match in _ATTEMPT_FAILED.finditer(_text(client_log)):
        found.setdefault(f"job_{match['job']}", match["error"])
    return found


def _plain(text: str) -> str:
    """Undo how the summary escapes commas and ends of lines."""
    return text.replace("\\n", "\n").replace("\\,", ",")


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
