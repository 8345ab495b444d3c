"""Findings as JUnit XML, which pipelines read: one test case each (the schema that Jenkins's xunit
plugin and GitLab take)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from fabriclab.files import write_all


@dataclass(frozen=True)
class JunitCase:
    """A test case. Neither failed nor skipped: it passed."""

    group: str
    """Shown as the case's class."""
    name: str
    failure: str | None = None
    skipped: str | None = None


def junit_xml(suite: str, cases: Sequence[JunitCase]) -> str:
    """Return the document, with a final newline. It holds no times: the same findings give the same bytes.

    Without cases it has one that is skipped: a pipeline takes a suite without any for one that passed.
    """
    cases = cases or [JunitCase(suite, "anything", skipped="nothing was checked")]
    counts = {
        "tests": len(cases),
        "failures": sum(case.failure is not None for case in cases),
        "errors": 0,
        "skipped": sum(case.skipped is not None for case in cases),
    }
    root = ElementTree.Element("testsuites")
    element = ElementTree.SubElement(
        root, "testsuite", {"name": _clean(suite), **{name: str(count) for name, count in counts.items()}}
    )
    for case in cases:
        one = ElementTree.SubElement(element, "testcase", {"classname": _clean(case.group), "name": _clean(case.name)})
        for tag, message in (("failure", case.failure), ("skipped", case.skipped)):
            if message is not None:
                ElementTree.SubElement(one, tag, {"message": _clean(message)})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def write_junit(path: Path, suite: str, cases: Sequence[JunitCase]) -> None:
    """Write the document, and the directories on the way to it. Raises OSError."""
    write_all({path: '<?xml version="1.0" encoding="utf-8"?>\n' + junit_xml(suite, cases)})


def _clean(text: str) -> str:
    """Return a text without the control characters that XML 1.0 can't hold."""
    return "".join(character if character >= " " or character in "\t\n" else "?" for character in text)
