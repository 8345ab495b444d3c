"""Distributions of flow sizes: the project's own against the figures of their sources,
the formats that are read, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab.distributions import Distribution, DistributionError, builtin, mean_bytes, names, read

MB = 10**6


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("web-search", 1_711_250),
        ("data-mining", 12_658_199),
        ("key-value", 342),
        ("facebook-hadoop", 120_421),
        ("storage", 40_870),
        ("homa-hadoop", 194_330.9),
        ("pfabric-web-search", 1141 * 1500),
        ("pfabric-data-mining", 5117 * 1500),
        ("pfabric-imc10", 134 * 1500),
    ],
)
def test_means_are_those_of_the_sources(name: str, mean: float) -> None:
    """The sources round to whole bytes or packets."""
    rounding = 750 if name.startswith("pfabric") else 0.5
    assert abs(builtin(name).mean_bytes - mean) <= rounding


@pytest.mark.parametrize(
    ("name", "cap_bytes", "mean"),
    [
        ("web-search", 10 * MB, 1_411_250),
        ("data-mining", 10 * MB, 603_552),
        ("web-search", MB, 386_250),
        ("data-mining", MB, 118_538),
    ],
)
def test_means_of_what_is_cut(name: str, cap_bytes: int, mean: float) -> None:
    found = builtin(name)
    assert abs(mean_bytes(found.points, found.interpolation, cap_bytes) - mean) <= 0.5


def test_every_file_says_its_source_and_its_mean() -> None:
    assert {"web-search", "data-mining", "facebook-hadoop", "key-value", "storage", "homa-hadoop"} <= set(names())
    assert all(builtin(name).source for name in names())
    assert all(builtin(name).name == name for name in names())


def test_what_is_raised_to_four_bytes_counts_in_the_mean() -> None:
    found = builtin("key-value")
    assert found.raised_share == pytest.approx(0.28 + 0.04 / 7, rel=1e-12)
    raised = mean_bytes(found.points, found.interpolation, None) - found.mean_bytes
    assert raised == pytest.approx(0.28 * 2.5 + 0.04 / 7 / 2, rel=1e-9)
    assert builtin("homa-hadoop").raised_share == 0
    assert Distribution("d", ((2, 0.25), (9, 1.0)), "step", "").raised_share == 0.25
    assert mean_bytes(((2, 0.25), (9, 1.0)), "step", None) == 0.25 * 4 + 0.75 * 9


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        builtin("../web-search")


def test_fractions_and_per_cent_are_the_same() -> None:
    assert (
        read("0 0\n100 0.25\n200 1\n", "a.txt").points
        == read("0 0\n100 25\n200 100\n", "a.txt").points
        == ((0, 0.0), (100, 0.25), (200, 1.0))
    )


def test_homas_files_are_steps() -> None:
    found = read("150\n100 .5\n200 1\n", "dir/homa.txt")
    assert (found.interpolation, found.mean_bytes, found.name) == ("step", 150.0, "homa.txt")


def test_a_unit_makes_packets_bytes() -> None:
    assert read("# unit: 1500 B\n1 0\n1 0.5\n3 1\n", "a.txt").points == ((1500, 0.0), (1500, 0.5), (4500, 1.0))


def test_comments_and_blank_lines_are_left_out() -> None:
    found = read("# sizes: of something\n\n# interpolation: step\n# source: me\n 5\t1 \n", "a.txt")
    assert (found.interpolation, found.points, found.source) == ("step", ((5, 1.0),), "me")


HOMA_DCTCP = """1744.68
1 0.025000
2 0.050000
3 0.075000
4 0.100000
5 0.125000
6 0.150000
7 0.175000
8 0.164286
9 0.171429
20 0.316667
21 0.314286
54 0.536500
55 0.531750
134 0.600875
135 0.600375
20000 1.000000
"""
"""From PlatformLab/HomaSimulation, sizeDistributions/DCTCP_MsgSizeDist.txt:
the rows around the places where it falls."""


def test_homas_dctcp_file_is_refused_by_line() -> None:
    with pytest.raises(DistributionError) as raised:
        read(HOMA_DCTCP, "DCTCP_MsgSizeDist.txt")
    assert str(raised.value).split("\n") == [
        "DCTCP_MsgSizeDist.txt:9: probability 0.164286 of size 8 comes after 0.175000 of 7; "
        "cumulative probabilities must not fall",
        "DCTCP_MsgSizeDist.txt:12: probability 0.314286 of size 21 comes after 0.316667 of 20; "
        "cumulative probabilities must not fall",
        "DCTCP_MsgSizeDist.txt:14: probability 0.531750 of size 55 comes after 0.536500 of 54; "
        "cumulative probabilities must not fall",
        "DCTCP_MsgSizeDist.txt:16: probability 0.600375 of size 135 comes after 0.600875 of 134; "
        "cumulative probabilities must not fall",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1: there are no points; a line is a size and a cumulative probability, such as `10000 0.15`"),
        ("0 0\n", "1: there are no points; a line is a size and a cumulative probability, such as `10000 0.15`"),
        (
            "0 0\nx 0.5\n9 1\n",
            "2: 'x' is not a number; a line is a size and a cumulative probability, such as `10000 0.15`",
        ),
        (
            "0 0\n5 nan\n9 1\n",
            "2: 'nan' is not a number; a line is a size and a cumulative probability, such as `10000 0.15`",
        ),
        (
            "0 0\n1_0 0.5\n90 1\n",
            "2: '1_0' is not a number; a line is a size and a cumulative probability, such as `10000 0.15`",
        ),
        ("0 0\n-5 0.5\n9 1\n", "2: -5 is negative; sizes and probabilities are zero or more"),
        ("0 0\n5 -0.5\n9 1\n", "2: -0.5 is negative; sizes and probabilities are zero or more"),
        ("0 0\n5.5 0.5\n9 1\n", "2: 5.5 is not a whole number; a size is one, of bytes or of the `# unit:`"),
        ("0 0\n9999999999999 1\n", "2: 9999999999999 is larger than a flow can be, 1099511627776 bytes"),
        ("0 0\n5\n9 1\n", "2: '5' must be two numbers, a size and a cumulative probability"),
        (
            "0 0\n6 1 0.15\n9 1\n",
            "2: '6 1 0.15' is three columns, ns-2's (packets, a count, probability); "
            "leave the middle one out and write "
            "`# unit: 1500 B` above",
        ),
        ("0 0\n5 0.5\n9 0.9\n", "3: the last probability is 0.9; it must be 1, or 100 where they are per cent"),
        ("0 0\n5 50\n9 101\n", "3: the last probability is 101; it must be 1, or 100 where they are per cent"),
        (
            "5 0.2\n9 1\n",
            "1: the first probability is 0.2; it must be 0 (`# interpolation: step` if only these sizes occur)",
        ),
        ("0 0\n0 1\n", "2: the largest size is 0"),
        ("0 0\n9 0.5\n5 0.7\n10 1\n", "3: size 5 comes after 9; sizes must not fall"),
        ("0 0\n5 0.5\n5 0.5\n9 1\n", "3: the point 5 0.5 occurs twice"),
        ("# interpolation: step\n5 0.5\n5 0.7\n9 1\n", "3: size 5 occurs twice; a step has one probability"),
        ("# interpolation: cubic\n0 0\n9 1\n", "1: 'cubic' must be linear or step"),
        ("0 0\n# interpolation: step\n9 1\n", "2: `# interpolation:` must stand above the first point"),
        (
            "# unit: 1500\n0 0\n9 1\n",
            "1: '1500' has no unit; write one of B, KB, MB, GB, KiB, MiB, GiB, such as '64 KB'",
        ),
        ("# unit: 1 GB\n0 0\n9 1\n", "1: '1 GB' must be 1 B to 1 MiB, such as 1500 B for packets"),
        ("# mean: 7\n0 0\n10 1\n", "1: the mean stated is 7, that of the points is 5.0"),
        (
            "# mean: much\n0 0\n10 1\n",
            "1: 'much' is not a number; a line is a size and a cumulative probability, such as `10000 0.15`",
        ),
    ],
)
def test_a_bad_file_is_named_by_line(text: str, problem: str) -> None:
    with pytest.raises(DistributionError) as raised:
        read(text, "mine.txt")
    assert str(raised.value) == f"mine.txt:{problem}"


def test_all_problems_are_named_at_once_but_not_more_than_twenty() -> None:
    with pytest.raises(DistributionError) as raised:
        read("0 0\n" + "x y\n" * 30, "mine.txt")
    lines = str(raised.value).split("\n")
    assert len(lines) == 21
    assert lines[0].startswith("mine.txt:2: 'x'")
    assert lines[-1] == "mine.txt: and 40 more"
    assert raised.value.problems[0][0] == 2


points = st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 1000)), min_size=2, max_size=20).map(
    lambda found: list(zip(sorted(size for size, _ in found), sorted(share for _, share in found), strict=True))
)


@given(points, st.integers(4, 10**9))
def test_a_cap_never_raises_the_mean_and_bounds_it(found: list[tuple[int, int]], cap_bytes: int) -> None:
    whole = ((0, 0.0), *((size + 1, share / 1001) for size, share in found), (10**9 + 2, 1.0))
    capped, uncapped = mean_bytes(whole, "linear", cap_bytes), mean_bytes(whole, "linear", None)
    assert 4 * (1 - 1e-12) <= capped <= min(cap_bytes, uncapped) * (1 + 1e-12)
