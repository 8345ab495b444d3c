"""The page of all claims (`docs/studies.md`): a table a study, made of `studies/*.yml` and what labs publish."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from fabriclab.files import write_text
from fabriclab.gallery.published import GalleryError
from fabriclab.studies.claims import Study
from fabriclab.studies.verdicts import Judged

_REGION = re.compile(r"(<!-- (claims: \w+|verdicts) -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = "| claim | the study | here | verdict |\n|---|---|---|---|\n"


def write_page(page: Path, judged: Mapping[str, tuple[Study, Mapping[str, Judged]]]) -> None:
    """Write the page's regions anew. Raises GalleryError as `with_claims` does, OSError."""
    write_text(page, with_claims(page.read_text(encoding="utf-8"), judged))


def with_claims(text: str, judged: Mapping[str, tuple[Study, Mapping[str, Judged]]]) -> str:
    """Return the page with its regions made anew.

    Raises GalleryError where a study has no region, or a region no study.
    """
    made = {f"claims: {name}": _table(claims) for name, (_, claims) in judged.items()}
    made["verdicts"] = _tally(judged)
    found = [match[2] for match in _REGION.finditer(text)]
    if sorted(found) != sorted(made):
        raise GalleryError(f"the page has the regions {', '.join(found)}; it should have {', '.join(made)}, each once")
    return _REGION.sub(lambda match: f"{match[1]}\n{made[match[2]]}\n{match[3]}", text)


def _tally(judged: Mapping[str, tuple[Study, Mapping[str, Judged]]]) -> str:
    lines = ["| study | claims | agree | disagree | undecided |", "|---|---|---|---|---|"]
    for name, (study, claims) in judged.items():
        counts = Counter(one.verdict for one in claims.values())
        cells = (len(claims), *(counts[verdict] for verdict in ("agrees", "disagrees", "undecided")))
        lines.append(f"| [{name}: {study.title}](#{name.lower()}) | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _table(claims: Mapping[str, Judged]) -> str:
    return _HEAD + "".join(f"| {' | '.join(_row(one))} |\n" for one in claims.values())


def _row(judged: Judged) -> tuple[str, ...]:
    claim = judged.claim
    study = f"{claim.expected} ({claim.source})"
    here = "; ".join(judged.numbers) or "–"
    if claim.lab and judged.numbers:
        here = f"[{claim.lab}](../labs/{claim.lab}/README.md): {here}"
    more = claim.why or ""
    if judged.verdict == "undecided":
        more = " ".join(part for part in (more, f"To decide: {claim.would_decide} ({claim.cost})") if part)
    condition = f" ({claim.condition})" if claim.condition else ""
    verdict = judged.verdict if judged.verdict == "agrees" else f"**{judged.verdict}**"
    return f"{claim.claim}{condition}", study, here, f"{verdict}{'. ' + more if more else ''}"
