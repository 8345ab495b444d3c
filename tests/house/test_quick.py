"""`make quick` finds the tests that a change touches, and costs leave out what there is no time for."""

from __future__ import annotations

import pytest
import quick
from costs import within
from repository import ROOT
from shared_out import scope_of


def test_a_module_leads_to_its_room_and_to_who_imports_it() -> None:
    found = quick.touched(["fabriclab/lab/hosts/nic.py"])
    assert "tests/unit/lab/hosts/test_host_nic.py" in found
    found = quick.touched(["fabriclab/formats/framing.py"])
    assert found[0] == "tests/unit/resolve/switch/test_switch_headroom.py", "who imports it comes first"
    assert "tests/unit/formats/test_manifest.py" in found


def test_a_helper_leads_to_the_tests_that_use_it_and_a_test_to_itself() -> None:
    assert "tests/unit/resolve/test_bgp.py" in quick.touched(["tests/support/small_fabrics.py"])
    assert quick.touched(["tests/unit/test_units.py"]) == ["tests/unit/test_units.py"]
    assert quick.touched(["docs/start.md"]) == ["tests/house/test_documents.py"]


def test_what_is_named_is_there() -> None:
    named = {place for places in quick.ELSEWHERE.values() for place in places} | {*quick.CORE, *quick.ALWAYS}
    assert [place for place in named if not (ROOT / place).exists()] == []


def test_most_rooms_have_their_folder_of_tests() -> None:
    """A new room's tests go into a folder of its name; rooms without one are those that others' tests cover."""
    rooms = {path.name for path in (ROOT / "fabriclab").iterdir() if (path / "__init__.py").exists()}
    tested = {path.name for path in (ROOT / "tests" / "unit").iterdir() if path.is_dir()}
    assert len(rooms & tested) > len(rooms) / 2


def test_a_budget_keeps_the_first_and_what_still_fits(request: pytest.FixtureRequest) -> None:
    items = [item for item in request.session.items if item.path == request.path][:3]
    names = [item.nodeid.partition("@")[0] for item in items]
    assert within(items, 5, dict(zip(names, (3, 4, 1), strict=True))) == [items[0], items[2]]
    assert within(items, 0.25, {}) == items[:2], "of unknown cost"


@pytest.mark.parametrize(
    ("nodeid", "group", "scope"),
    [
        ("tests/unit/lab/test_lab.py::test_one[a::b]", None, "tests/unit/lab/test_lab.py"),
        ("tests/unit/cluster/test_cluster.py::test_one@cluster", "cluster", "cluster"),
        ("tests/vm/test_aqm.py::test_one[vm]", None, "tests/vm/test_aqm.py::test_one[vm]"),
        ("tests/vm/test_pcap.py::test_one@pcap", "pcap", "pcap"),
    ],
)
def test_a_file_of_quick_tests_is_one_workers(nodeid: str, group: str | None, scope: str) -> None:
    assert scope_of(nodeid, group or nodeid) == scope
