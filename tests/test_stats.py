import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from leaderboard.stats import Rate, geometric_mean, wilson

shares = st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(shares)
def test_the_interval_is_that_of_statsmodels(share):
    count, of = share
    assert wilson(count, of) == pytest.approx(proportion_confint(count, of, method="wilson"), abs=1e-9)


@given(shares)
def test_the_interval_holds_the_share_and_stays_within_0_and_1(share):
    low, high = wilson(*share)
    assert 0 <= low <= share[0] / share[1] <= high <= 1


def test_nothing_seen_says_nothing():
    assert wilson(0, 0) == (0, 1)
    assert Rate(0, 0).share is None


@pytest.mark.parametrize(("count", "of"), [(-1, 5), (6, 5), (1, 0)])
def test_what_is_no_share_is_refused(count, of):
    with pytest.raises(ValueError, match="no share"):
        wilson(count, of)


def test_a_rate_carries_its_interval():
    rate = Rate(42, 176)
    assert rate.share == pytest.approx(0.2386, abs=1e-4)
    assert (rate.low, rate.high) == wilson(42, 176)


@given(st.lists(st.floats(0.01, 100), min_size=1))
def test_the_geometric_mean_is_the_exponential_of_the_mean_logarithm(values):
    assert geometric_mean(values) == pytest.approx(math.exp(sum(map(math.log, values)) / len(values)))


def test_the_geometric_mean_leaves_out_what_is_missing():
    assert geometric_mean([2.0, None, 8.0]) == pytest.approx(4)
    assert geometric_mean([None]) is None
    assert geometric_mean([]) is None
