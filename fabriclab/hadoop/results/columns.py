"""What the columns of the tables of Hadoop's jobs mean, where their names do not say it."""

from __future__ import annotations

WORDS = {
    "task": "map, reduce, or master (a job's application master)",
    "of": "the attempt of a task that a transfer belongs to; empty: another client's",
    "shuffle_end_ns": "when a reducer had all map outputs, nanoseconds after the beginning of the traffic",
    "spilled_records": "records written to a node's disk by maps and reducers, Hadoop's counter",
    "failed_shuffles": "fetches of map outputs that failed in successful attempts, Hadoop's counter",
    "shuffle_io_errors": "Hadoop's counter IO_ERROR: a node could not be reached, or stopped sending",
    "shuffle_connection_errors": "Hadoop's counter CONNECTION",
    "shuffle_data_errors": "Hadoop's counters BAD_ID, WRONG_LENGTH, WRONG_MAP and WRONG_REDUCE together",
    "fetch_failures": "fetches of map outputs that failed in all attempts, by the logs of reducers",
    "failed_attempts": "attempts of maps and reducers that failed",
    "killed_attempts": "attempts of maps and reducers that were killed",
    "rerun_maps": "maps that ran again because their output was lost after their end",
}
