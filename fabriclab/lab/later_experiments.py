"""An experiment with what becomes of it in time: events may set keys, and then it must be right as well.

Each such event's settings are put into the document as those of a command line, over what earlier ones set, and it is
read again: so they meet the checks that the file's own text meets, at their own lines.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fabriclab.lab.experiment import Experiment, parse_experiment
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.settings import check_key, check_later, put


def read_experiment(
    document: MappingValue, topology: Topology | None, names: Names, directory: Path, problems: Problems
) -> Experiment:
    """Return the experiment, and what it is after each event that sets something; what is wrong is recorded.

    `topology` is None when it has problems of its own.
    """
    experiment = parse_experiment(document, topology, names, directory, problems)
    settings = {event.name: event.settings for event in experiment.events if event.settings}
    if not settings:
        return experiment
    changed = MappingValue(
        {key: value for key, value in document.entries.items() if key != "events"}, document.key_places, document.place
    )
    later = {}
    for name, keys in settings.items():
        for key, value in keys.items():
            try:
                check_key(key, document, names)
                check_later(key)
            except ValueError as error:
                problems.add(value.place, f"events.{name}.set", str(error), value.text)
                continue
            changed = put(changed, key, value)
        later[name] = parse_experiment(changed, topology, names, directory, problems)
    return replace(experiment, later=later)
