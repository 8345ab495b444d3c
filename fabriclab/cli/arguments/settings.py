"""`--set KEY=VALUE`."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.cli.host.failure import BadInputError
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.problems import Place


def parse_settings(texts: Sequence[str]) -> dict[str, ScalarValue]:
    """Return the settings by key, each with its place for errors.

    Raises BadInputError for a text without `=`, or a key given twice.
    """
    settings: dict[str, ScalarValue] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not key or not equals or not value:
            raise BadInputError(f"--set {text!r}: write KEY=VALUE, for example --set senders=8")
        if key in settings:
            raise BadInputError(f"--set {text!r}: {key} is given twice ({settings[key].text!r} before)")
        settings[key] = ScalarValue(value, Place(f"--set {key}={value}"), quoted=True)
    return settings
