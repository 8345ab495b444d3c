"""The gallery has a card for each lab, and says what the labs' own pages say."""

from __future__ import annotations

import os

from gallery_page import PAGE, finding, gallery


def test_the_page_is_made_of_the_labs() -> None:
    right = gallery()
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        PAGE.write_text(right, encoding="utf-8")
        return
    page = PAGE.read_text(encoding="utf-8")
    assert page == right, "FABRICLAB_ACCEPT=1 pytest tests/house/test_gallery_page.py writes it"


def test_a_finding_is_the_beginning_of_the_answer() -> None:
    text = (
        "# T\n\n**Question.** Why?\n\n**Answer.** It is **twice as long (before, with one\nmodel (old), 3.1)** at "
        "2.5 Gbps. It\nis more.\n"
    )
    assert finding(text) == "It is twice as long at 2.5 Gbps. It is more."
    assert finding(f"**Answer.** {'So ' * 30}it is. No more.\n") == f"{'So ' * 30}it is."
