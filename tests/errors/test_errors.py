"""Bad labs, each with exactly what `fabriclab check` says of it.

NAME.yml        an experiment on the star of common/
NAME.clab.yml   a topology below the experiment of common/
NAME/           a lab of its own, where both files matter
NAME.expected   the messages, one a line

What a message lists of a list that grows stands there by its name: `<kinds of aqm>`, `<keys of aqm>`.

`FABRICLAB_ACCEPT=1 pytest tests/errors` writes the messages as they are now; read the difference before you commit it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from fabriclab.keys.wording import listed
from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.reading import kernel_names
from fabriclab.qdiscs import AQM_WORDS, KINDS

HERE = Path(__file__).parent
COMMON = HERE / "common"
CASES = sorted(
    {path for path in HERE.iterdir() if path.suffix == ".yml" or path.is_dir()} - {COMMON, HERE / "__pycache__"}
)


LISTS = {"<kinds of aqm>": listed(KINDS), "<keys of aqm>": listed(AQM_WORDS)}


def expected_file(case: Path) -> Path:
    return HERE / (case.name.removesuffix(".yml").removesuffix(".clab") + ".expected")


def make_lab(case: Path, directory: Path) -> None:
    if case.is_dir():
        shutil.copytree(case, directory)
        return
    shutil.copytree(COMMON, directory)
    shutil.copy(case, directory / ("topology.clab.yml" if case.name.endswith(".clab.yml") else "experiment.yml"))


def replaced(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messages(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_lab(case, tmp_path / "lab")
    monkeypatch.chdir(tmp_path)
    # What messages list does not depend on a kernel that is built, nor on who has been imported before.
    monkeypatch.setattr(kernel_names, "_asked", [])
    with pytest.raises(LabError) as raised:
        parse_lab(Path("lab"))
    messages = f"{raised.value}\n"
    if os.environ.get("FABRICLAB_ACCEPT"):
        expected_file(case).write_text(
            replaced(messages, {words: name for name, words in LISTS.items()}), encoding="utf-8"
        )
    assert messages == replaced(expected_file(case).read_text(encoding="utf-8"), LISTS)


def test_the_common_lab_is_good() -> None:
    assert parse_lab(COMMON).name == "star"


def test_every_expectation_has_its_case() -> None:
    assert {path.name for path in HERE.glob("*.expected")} == {expected_file(case).name for case in CASES}
