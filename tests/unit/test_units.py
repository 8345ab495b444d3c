"""Units: exact both ways, and messages that say what would be right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab.units import (
    DURATION,
    RATE,
    SIZE,
    Dimension,
    UnitError,
    format_duration,
    format_quantity,
    format_rate,
    format_size,
    parse_duration,
    parse_quantity,
    parse_rate,
    parse_size,
)

DIMENSIONS = st.sampled_from((RATE, SIZE, DURATION))


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("1 Gbps", 10**9),
        ("10Gbit", 10**10),
        ("0.5 Mbps", 500_000),
        ("100 kbit/s", 100_000),
        ("1500 bps", 1500),
        ("2.5 Gbps", 25 * 10**8),
    ],
)
def test_rates(text: str, bps: int) -> None:
    assert parse_rate(text) == bps


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64 KB", 64_000),
        ("64 KiB", 65_536),
        ("64 kB", 64_000),
        ("1.5 MB", 1_500_000),
        (" 1514 B ", 1514),
        ("0 bytes", 0),
        ("1 GiB", 2**30),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("25 us", 25_000),
        ("25 \u00b5s", 25_000),
        ("200ms", 200 * 10**6),
        ("1.5 ns", None),
        ("2 min", 120 * 10**9),
        ("0 s", 0),
    ],
)
def test_durations(text: str, ns: int | None) -> None:
    if ns is None:
        with pytest.raises(UnitError, match="not a whole number of ns"):
            parse_duration(text)
    else:
        assert parse_duration(text) == ns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("64", "'64' has no unit; write one of B, KB, MB, GB, KiB, MiB, GiB, such as '64 KB'"),
        ("64 Mbps", "'64 Mbps' is a rate; write a size, in B, KB, MB, GB, KiB, MiB, GiB"),
        ("64 kb", "'64 kb': unknown unit 'kb'; did you mean 'KB'? Case matters"),
        ("64 parsec", "'64 parsec': unknown unit 'parsec'; a size is in B, KB, MB, GB, KiB, MiB, GiB"),
        ("-64 KB", "'-64 KB' is negative; a size is zero or more"),
        ("many", "'many' is not a size; write a number and a unit, such as '64 KB'"),
        ("", "'' is not a size; write a number and a unit, such as '64 KB'"),
        ("1e3 KB", "'1e3 KB' is not a size; write a number and a unit, such as '64 KB'"),
        ("99999999999999999 GB", "'99999999999999999 GB' is too large for a size"),
        ("\u0661 KB", "'\u0661 KB' is not a size; write a number and a unit, such as '64 KB'"),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(UnitError) as raised:
        parse_size(text)
    assert str(raised.value) == message


def test_no_text_is_ever_measured_by_a_huge_number() -> None:
    with pytest.raises(UnitError, match=r"is not a size"):
        parse_size("9" * 10**6 + " KB")


@given(DIMENSIONS, st.integers(min_value=0, max_value=2**63 - 1))
def test_exact_text_gives_the_value_back(dimension: Dimension, value: int) -> None:
    assert parse_quantity(format_quantity(value, dimension), dimension) == value


@given(DIMENSIONS, st.integers(min_value=1, max_value=10**15), st.integers(min_value=2, max_value=6))
def test_rounded_text_is_near_the_value(dimension: Dimension, value: int, digits: int) -> None:
    number, unit = format_quantity(value + 0.25, dimension, digits).split()
    scale = dimension.scale(unit)
    assert scale is not None
    assert float(number) * scale == pytest.approx(value + 0.25, rel=10.0 ** (1 - digits))


@given(DIMENSIONS, st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_unit_error(dimension: Dimension, text: str) -> None:
    try:
        assert parse_quantity(text, dimension) >= 0
    except UnitError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_size(1_024_000), "1024 KB"),
        (format_size(65_536), "64 KiB"),
        (format_size(0), "0 B"),
        (format_rate(2_500_000_000), "2.5 Gbps"),
        (format_duration(12_500), "12.5 us"),
        (format_duration(60 * 10**9), "60 s"),
        (format_rate(956_812_345.3, 4), "956.8 Mbps"),
        (format_size(999_960, 4), "1 MB"),
        (format_duration(0.25), "0.25 ns"),
    ],
)
def test_texts_for_people(text: str, expected: str) -> None:
    assert text == expected
