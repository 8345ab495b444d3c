"""A lab's README: its regions and numbers, made from the published data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from fabriclab.gallery.data import Source, read_rows, read_sources
from fabriclab.gallery.published import GalleryError, Published, Sentence, Value, read_published
from fabriclab.gallery.tables import Data, markdown, number_text

README = "README.md"
END = "<!-- end -->"
_REGION = re.compile(r"(<!-- (table: [^\n]*?|made from|superseded) -->\n).*?(<!-- end -->)", re.DOTALL)
_WIDTH = 120
_NUMBER = r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
_MADE_FROM, _SUPERSEDED = "made from", "superseded"


def generated(lab: Path, published: Published, data: Data, sources: Mapping[str, Source]) -> str:
    """Return a lab's README as its data have it. Raises GalleryError where something has no place or no data."""
    text = (lab / README).read_text(encoding="utf-8")
    if not published.superseded:
        text = _without_superseded_region(text)
    text = _with_regions(text, lab / README, published, data, sources)
    for sentence in published.sentences:
        text = _with_sentence(text, lab / README, sentence, data)
    return text


def require_places(lab: Path, published: Published) -> None:
    """Raise GalleryError unless the README has a place for every table and every sentence: known before anything is
    measured."""
    text = (lab / README).read_text(encoding="utf-8")
    _require_regions(text, lab / README, _region_names(published))
    for sentence in published.sentences:
        _match(text, lab / README, sentence)


def differences(lab: Path) -> list[str]:
    """Return where a lab's README says something else than its data, as "line: what stands there; what is right"."""
    written = (lab / README).read_text(encoding="utf-8").splitlines()
    published = read_published(lab)
    data = {matrix: read_rows(lab, matrix) for matrix in published.matrices}
    right = generated(lab, published, data, read_sources(lab)).splitlines()
    return [
        f"{lab / README}:{number}: {old!r}; the data say {new!r}"
        for number, (old, new) in enumerate(zip(written, right, strict=False), 1)
        if old != new
    ][:20] or ([] if written == right else [f"{lab / README}: {len(written)} lines; the data make {len(right)}"])


def _without_superseded_region(text: str) -> str:
    """Return a README after its data were measured again."""
    return re.sub(rf"<!-- {_SUPERSEDED} -->\n.*?{END}\n\n?", "", text, flags=re.DOTALL)


def _with_regions(text: str, path: Path, published: Published, data: Data, sources: Mapping[str, Source]) -> str:
    made = {_table_region(name): markdown(name, table, data) for name, table in published.tables.items()}
    made[_MADE_FROM] = made_from(published, sources)
    if published.superseded:
        sentence = f"*The figures on this page are to be measured again: {published.superseded}.*"
        made[_SUPERSEDED] = textwrap.fill(sentence, _WIDTH) + "\n"
    _require_regions(text, path, tuple(made))
    return _REGION.sub(lambda match: f"{match[1]}\n{made[match[2]]}\n{match[3]}", text)


def _region_names(published: Published) -> tuple[str, ...]:
    of_lab = (_SUPERSEDED,) if published.superseded else ()
    return (*map(_table_region, published.tables), _MADE_FROM, *of_lab)


def _table_region(name: str) -> str:
    return f"table: {name}"


def _require_regions(text: str, path: Path, wanted: tuple[str, ...]) -> None:
    matches = list(_REGION.finditer(text))
    for match in matches:
        if match[2] not in wanted:
            line = text.count("\n", 0, match.start()) + 1
            known = f"published.yml has no such entry; it has: {', '.join(sorted(wanted))}"
            raise GalleryError(f"{path}:{line}: <!-- {match[2]} -->: {known}")
    seen = [match[2] for match in matches]
    for name in wanted:
        if seen.count(name) != 1:
            right = f"write <!-- {name} --> and {END} on lines of their own once"
            raise GalleryError(f"{path}: the region of {name!r} occurs {seen.count(name)} times; {right}")


def made_from(published: Published, sources: Mapping[str, Source]) -> str:
    """Return what the published matrices were measured with, in words: a sentence for each commit and kernel."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for matrix in published.matrices:
        source = sources.get(matrix)
        if source is None:
            raise GalleryError(f"matrix {matrix}: made-from.json does not say what it was measured with; measure it")
        groups.setdefault((source.commits, source.kernels), []).append(matrix)
    if len(groups) == 1:
        ((commits, kernels),) = groups
        return f"{_with(commits, kernels)}: the tables whose data are in `published/`.\n"
    return "".join(
        f"{_with(commits, kernels)}: {_listed(matrices)}.\n" for (commits, kernels), matrices in groups.items()
    )


def _with(commits: tuple[str, ...], kernels: tuple[str, ...]) -> str:
    return f"Measured at {f'commit {_listed(commits)}' if commits else 'no commit'} with Linux {_listed(kernels)}"


def _listed(words: list[str] | tuple[str, ...]) -> str:
    return ", ".join(words)


def _with_sentence(text: str, path: Path, sentence: Sentence, data: Data) -> str:
    match = _match(text, path, sentence)
    for place in reversed(range(len(sentence.values))):
        start, end = match.span(place + 1)
        text = text[:start] + _value_text(sentence.values[place], sentence, data) + text[end:]
    return text


def _match(text: str, path: Path, sentence: Sentence) -> re.Match[str]:
    pieces = [r"\s+".join(map(re.escape, re.split(r"\s+", piece))) for piece in sentence.text.split("{}")]
    matches = list(re.finditer(_NUMBER.join(pieces), text))
    if len(matches) != 1:
        wanted = "write it there once, with any numbers, or mend its words in published.yml"
        raise GalleryError(f"{path}: {sentence.text!r} occurs {len(matches)} times; {wanted}")
    return matches[0]


def _value_text(value: Value, sentence: Sentence, data: Data) -> str:
    rows = [row for row in data[value.matrix] if row.metric == value.column and row.fits(value.where)]
    numbers = [number for row in rows if (number := row.numbers[value.part]) is not None]
    if not numbers or (value.of == "only" and len(numbers) > 1):
        points = f"{len(numbers)} points of {value.matrix} have {value.column} where {value.where}"
        raise GalleryError(f"{sentence.text!r}: {points}; name one, or say `of: least` or `of: greatest`")
    return number_text(value, max(numbers) if value.of == "greatest" else min(numbers))
