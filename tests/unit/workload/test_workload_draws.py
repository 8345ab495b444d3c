"""Random numbers: known answers of the generator, the logarithm against the C library's,
sizes against their distributions."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_traffic import distributed

from fabriclab.distributions import names
from fabriclab.formats.plan.traffic import DistributedSize, UniformSize
from fabriclab.workload.queries import draw_subsets
from fabriclab.workload.randomness import Floats, Stream, natural_logarithm
from fabriclab.workload.sizes import draw_sizes, mean_size, quantiles

DRAWS = 1_000_000
KS_CRITICAL = math.sqrt(-0.5 * math.log(1e-6 / 2) / DRAWS)
"""The Kolmogorov-Smirnov statistic that one sample in a million exceeds (Kolmogorov's asymptotic bound)."""


def ks_statistic(draws: Floats, cdf_here: Floats, cdf_below: Floats) -> float:
    """Return the largest distance of sorted draws' empirical distribution to a CDF,
    given at each draw and just below it."""
    ranks = np.arange(1, len(draws) + 1) / len(draws)
    first, last = np.searchsorted(draws, draws, "left") / len(draws), ranks[np.searchsorted(draws, draws, "right") - 1]
    return float(max(np.abs(last - cdf_here).max(), np.abs(first - cdf_below).max()))


def test_the_generator_is_philox() -> None:
    """The known answer of Random123 for counter and key zero (kat_vectors, philox4x64 10);
    numpy counts before it generates."""
    generator = np.random.Philox(key=0, counter=2**256 - 1)
    known = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert generator.random_raw(4).tolist() == known


def test_a_streams_words_are_the_same_everywhere() -> None:
    assert Stream(1, "web", "h1", "sizes").words(2).tolist() == [13099833555165409796, 16857761113589608470]


def test_streams_differ_by_each_part_of_their_name() -> None:
    parts: list[tuple[int, *tuple[str, ...]]] = [
        (1, "a", "b"),
        (2, "a", "b"),
        (1, "b", "a"),
        (1, "ab", ""),
        (1, "", "ab"),
        (1, "a", "b", ""),
    ]
    assert len({tuple(Stream(*name).words(4).tolist()) for name in parts}) == len(parts)


def test_draws_do_not_depend_on_how_many_are_taken_at_a_time() -> None:
    whole, pieces = Stream(1, "t"), Stream(1, "t")
    assert whole.uniforms(11).tolist() == [*pieces.uniforms(1), *pieces.uniforms(3), *pieces.uniforms(7)]


@given(st.floats(min_value=2.0**-53, max_value=1.0))
def test_the_logarithm_is_exact_to_the_last_bits(value: float) -> None:
    ours, theirs = float(natural_logarithm(np.array([value]))[0]), math.log(value)
    assert abs(ours - theirs) <= 1e-15 * abs(theirs)


def test_the_logarithm_of_many_draws() -> None:
    values = 1.0 - Stream(3, "logarithm").uniforms(100_000)
    theirs = np.array([math.log(value) for value in values])
    assert np.abs(natural_logarithm(values) - theirs).max() <= 1e-15 * 13
    assert (np.abs(natural_logarithm(values) - theirs) <= 1e-15 * np.abs(theirs)).all()


def test_uniforms_are_uniform() -> None:
    draws = np.sort(Stream(1, "uniforms").uniforms(DRAWS))
    assert 0 <= draws[0] <= draws[-1] < 1
    assert ks_statistic(draws, draws, draws) < KS_CRITICAL


def test_exponentials_are_exponential() -> None:
    draws = np.sort(Stream(1, "exponentials").exponentials(5.0, DRAWS))
    cdf = -np.expm1(-draws / 5.0)
    assert ks_statistic(draws, cdf, cdf) < KS_CRITICAL


def test_whole_numbers_are_below_their_bound() -> None:
    assert set(Stream(1, "below").below(3, 1000).tolist()) == {0, 1, 2}
    largest = 1.0 - 2.0**-53
    assert all(math.floor(largest * bound) == bound - 1 for bound in [1, 3, 7, 10**9, 2**53, 2**53 - 1])


def test_all_orders_are_equally_likely() -> None:
    stream = Stream(1, "orders")
    found = [tuple(stream.shuffled("abc")) for _ in range(6000)]
    counts = [found.count(order) for order in permutations("abc")]
    # Five standard deviations of a count of mean 1000.
    assert all(abs(count - 1000) < 145 for count in counts)


def cdf(size: DistributedSize, draws: Floats) -> Floats:
    """Return the distribution's own CDF at `draws`: what is drawn are its sizes rounded to whole bytes,
    none below 4 or above the cap."""
    points = np.array([point for point, _ in size.points], dtype=np.float64)
    probabilities = np.array([probability for _, probability in size.points])
    if size.interpolation == "step":
        steps = np.concatenate([[0.0], probabilities])
        found = steps[np.searchsorted(points, draws, "right")]
    else:
        upper = np.searchsorted(points, draws + 0.5, "right").clip(1, len(points) - 1)
        width = np.maximum(points[upper] - points[upper - 1], 1)
        share = ((draws + 0.5 - points[upper - 1]) / width).clip(0, 1)
        found = probabilities[upper - 1] + share * (probabilities[upper] - probabilities[upper - 1])
        found = np.where(draws + 0.5 >= points[-1], 1.0, np.where(draws + 0.5 < points[0], 0.0, found))
    found = np.where(draws < 4, 0.0, found)
    return found if size.cap_bytes is None else np.where(draws >= size.cap_bytes, 1.0, found)


@pytest.mark.parametrize("cap_bytes", [None, 10**6])
@pytest.mark.parametrize("name", names())
def test_sizes_have_their_distribution(name: str, cap_bytes: int | None) -> None:
    size = distributed(name, cap_bytes)
    draws = np.sort(draw_sizes(size, Stream(1, name), DRAWS)).astype(np.float64)
    assert ks_statistic(draws, cdf(size, draws), cdf(size, draws - 1)) < KS_CRITICAL
    assert draws[0] >= 4
    assert draws[-1] <= (cap_bytes or size.points[-1][0])


def test_the_ks_statistic_notices_a_shift_of_one_per_cent() -> None:
    size = distributed("web-search")
    draws = np.sort(draw_sizes(size, Stream(1, "web-search"), DRAWS)).astype(np.float64)
    shifted = np.floor(draws * 1.01)
    assert ks_statistic(shifted, cdf(size, shifted), cdf(size, shifted - 1)) > KS_CRITICAL


def test_quantiles_are_the_inverse_of_the_points() -> None:
    size = distributed("web-search")
    shares = np.array([0.0, 0.075, 0.15, 0.8, 0.985, 1 - 2.0**-53])
    assert quantiles(size, shares).tolist() == [0, 5000, 10_000, 2_000_000, 20_000_000, 30_000_000]


def test_quantiles_of_an_atom_are_its_size() -> None:
    size = distributed("pfabric-web-search")
    assert set(quantiles(size, np.array([0.0, 0.1, 0.1499])).tolist()) == {9000}


def test_uniform_sizes_include_both_ends() -> None:
    size = UniformSize(smallest_bytes=10, largest_bytes=12)
    assert set(draw_sizes(size, Stream(1, "sizes"), 1000).tolist()) == {10, 11, 12}
    assert mean_size(size) == 11


def test_subsets_are_all_drawn_and_in_every_order() -> None:
    rows = draw_subsets(Stream(1, "subsets"), 4, 12_000, 2)
    counts = {order: int((rows == order).all(axis=1).sum()) for order in permutations(range(4), 2)}
    assert sum(counts.values()) == 12_000
    # Five standard deviations of a count of mean 1000.
    assert all(abs(count - 1000) < 152 for count in counts.values())
