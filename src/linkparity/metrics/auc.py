"""How well scores rank links above non-links: ``auc`` and ``ap``."""

import numpy as np

from linkparity.metrics.intervals.delong import delong, largest_interval, levels
from linkparity.metrics.scored_pairs import NAN, Estimate, ScoredPairs


def auc(scored: ScoredPairs) -> Estimate:
    r"""Probability that a link scores higher than a non-link, ties counting half.

    .. math:: P(x^+ > x^-) + \tfrac12 P(x^+ = x^-)

    0.5 is chance, 1 the best. Unweighted, over all pairs, with or without groups; the interval is
    DeLong's. ``nan`` unless there are links and non-links.
    """
    count = len(scored.rank)
    unknown = (NAN, NAN) if scored.confidence is not None else None
    reason = _one_sided(scored)
    if reason or scored.label is None:
        return Estimate(NAN, count, interval=unknown, reason=reason)
    value, variance = delong(levels(scored.rank), scored.label, 1 - scored.label)
    if scored.confidence is None:
        return Estimate(value, count)
    if not variance > 0:
        reason = "DeLong's variance needs two links and two non-links"
        if variance == 0:
            reason = "the scores separate or tie all pairs, so that DeLong's variance is 0"
        return Estimate(value, count, interval=unknown, reason=reason)
    interval = largest_interval(np.array([value]), np.array([variance]), scored.confidence)
    return Estimate(value, count, interval=interval)


def ap(scored: ScoredPairs) -> Estimate:
    r"""Average precision: precision at each score that adds links, weighted by the links it adds.

    .. math:: \sum_t (R_t - R_{t-1}) P_t

    over the distinct scores t from the highest down. The fraction of links is chance, 1 the best.
    Unweighted. ``nan`` unless there are links and non-links: without non-links it is always 1.
    """
    count = len(scored.rank)
    reason = _one_sided(scored)
    if reason or scored.label is None:
        return Estimate(NAN, count, reason=reason)
    level = levels(-scored.rank)
    links, pairs = np.bincount(level, scored.label), np.bincount(level)
    precision = np.cumsum(links) / np.cumsum(pairs)
    return Estimate(float(links @ precision / links.sum()), count)


def _one_sided(scored: ScoredPairs) -> str:
    """Why there is no ranking of links above non-links, or nothing."""
    if scored.label is None:
        return "no labels were given"
    links = int(scored.label.sum())
    if links in (0, len(scored.label)):
        return f"needs links and non-links, got {links} links among {len(scored.label)} pairs"
    return ""
