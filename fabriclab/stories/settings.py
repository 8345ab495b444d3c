"""Settings in a story, checked as those of the command line are."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.lab import Lab, LabError
from fabriclab.lab.reading.document import ScalarValue, must_be
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.settings import check_later, is_dotted

Settings = Mapping[str, ScalarValue]


def read_settings(section: Section, name: str) -> dict[str, ScalarValue]:
    """Return the settings of a mapping, by their names; what is no setting is recorded."""
    below = section.section(name, None)
    found: dict[str, ScalarValue] = {}
    for key, value in {} if below is None else below.mapping.entries.items():
        if isinstance(value, ScalarValue) and not value.is_null:
            found[key] = value
        else:
            section.problems.add(value.place, f"{section.path(name)}.{key}", must_be("a value, such as 30 KB", value))
    if name in section and below is not None and not below.mapping.entries:
        section.complain(name, "nothing is set; write keys with their values: {switches.s1.ecn_threshold: 30 KB}")
    return found


def check_settings(lab: Lab, settings: Settings, problems: Problems) -> bool:
    """Return whether a lab can have these settings; what is wrong with them is recorded."""
    try:
        lab.apply(settings)
    except LabError as error:
        for mistake in error.mistakes:
            problems.add(Place(mistake.file, mistake.line), mistake.key, mistake.message, mistake.value)
        return False
    return True


def check_settings_later(lab: Lab, settings: Settings, problems: Problems) -> None:
    """Record which settings cannot change while a lab is up."""
    for name, value in settings.items():
        keys = lab.parameters.get(name, (name,))
        for key in filter(is_dotted, keys):
            try:
                check_later(key)
            except ValueError as error:
                problems.add(value.place, name, f"{error}; write it in up.set", value.text)
