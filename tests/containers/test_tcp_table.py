"""A host whose table of TCP connections is so large that each sample takes long."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.engine.containers.tcp_table import large_table


@pytest.mark.parametrize(
    ("places", "own", "is_slow"),
    [
        ("65536", "0", True),
        ("65536", "1024", False),
        ("8192", "0", False),
        ("65536", None, False),
        ("none", "0", False),
    ],
)
def test_a_large_table_that_all_nodes_share_is_told(
    tmp_path: Path, places: str, own: str | None, is_slow: bool
) -> None:
    (tmp_path / "tcp_ehash_entries").write_text(f"{places}\n")
    if own is not None:
        (tmp_path / "tcp_child_ehash_entries").write_text(f"{own}\n")
    told = large_table(tmp_path)
    assert (told is not None) is is_slow
    if told is not None:
        assert "65,536 places" in told and "sysctl -w net.ipv4.tcp_child_ehash_entries=1024" in told
