"""What a shell is told when it completes a command line, as the shell asks it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from repository import ROOT

PROGRAM = "import sys; sys.argv = ['fabriclab']; from fabriclab.cli import main; main()"


def completed(line: str) -> list[str]:
    words = line.split(" ")
    environment = {
        **os.environ,
        "_FABRICLAB_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fabriclab run inc", ["incast"]),
        ("fabriclab plan labs/leaf", ["labs/leaf-spine"]),
        ("fabriclab run incast --set s", ["senders=", "sru=", "sack=", "seed="]),
        ("fabriclab run incast --set variant=d", ["variant=dctcp"]),
        ("fabriclab sweep incast --matrix rto", ["rto-min"]),
        ("fabriclab plan leaf-spine --node leaf1", ["leaf1"]),
        ("fabriclab validate leaf-spine --only m", ["marks"]),
        ("fabriclab sonic export leaf-spine --node spine", ["spine1", "spine2"]),
        ("fabriclab run no-such-lab --set s", []),
    ],
)
def test_a_shell_is_told_what_may_stand_there(line: str, words: list[str]) -> None:
    assert completed(line) == words
