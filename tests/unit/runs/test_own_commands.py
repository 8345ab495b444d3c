"""A command of a node that fails is told with where the lab says it."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api.look import plan
from fabriclab.runs.own_commands import with_places

CONF = 'pc1[0]="A"\npc2[0]="A"\npc2[exec]="ls /not-there"\n'
STARTUP = "# who it is\nip address add 10.0.0.1/24 dev eth0\n\nsystemctl start apache2\n"


def test_the_place_stands_before_the_message(tmp_path: Path) -> None:
    """Before: the log's name alone, which counts commands."""
    (tmp_path / "lab.conf").write_text(CONF)
    (tmp_path / "pc1.startup").write_text(STARTUP)
    made = plan(tmp_path)
    said = [
        "exec-2@pc1 ended with exit 127: no systemctl",
        "replay@pc1 ended with exit 1: no",
        "exec-1@pc2 ended with 2",
    ]
    assert with_places("\n".join(said), made).split("\n") == [
        "pc1.startup:4: exec-2@pc1 ended with exit 127: no systemctl",
        "replay@pc1 ended with exit 1: no",
        "lab.conf:3: exec-1@pc2 ended with 2",
    ]
