"""How well scores order links before non-links: ``auc`` and ``ap``."""

import numpy as np

from linkparity.metrics.intervals.delong import delong, largest_interval, levels
from linkparity.metrics.scored_pairs import NAN, Estimate, ScoredPairs


def auc(scored: ScoredPairs) -> Estimate:
    r"""Probability that a link scores higher than a non-link, ties counting half.

    .. math:: P(x^+ > x^-) + \tfrac12 P(x^+ = x^-)

    0.5 is what any order without knowledge reaches, 1 the best. Unweighted, over every pair with
    a group or without; the interval is DeLong's. ``nan`` unless there are links and non-links.
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
        why = (
            "DeLong's variance needs two links and two non-links"
            if np.isnan(variance)
            else "the scores separate (or tie) so cleanly that DeLong's variance is 0, "
            "which says nothing about certainty"
        )
        return Estimate(value, count, interval=unknown, reason=why)
    interval = largest_interval(np.array([value]), np.array([variance]), scored.confidence)
    return Estimate(value, count, interval=interval)


def ap(scored: ScoredPairs) -> Estimate:
    r"""Average precision: precision at each score that adds links, weighted by the links it adds.

    .. math:: \sum_t (R_t - R_{t-1}) P_t

    over the distinct scores t from the highest down. The share of links is what any order without
    knowledge reaches, 1 the best. Unweighted. ``nan`` unless there are links and non-links: without
    non-links it is 1 for every model.
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
    """Why links cannot be told from non-links, or nothing."""
    if scored.label is None:
        return "no labels were given"
    links = int(scored.label.sum())
    if links in (0, len(scored.label)):
        return f"needs links and non-links, got {links} links among {len(scored.label)} pairs"
    return ""
