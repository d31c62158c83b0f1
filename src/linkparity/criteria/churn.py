"""Churn equality: the same expected disagreement with a baseline, for every pair of groups."""

from linkparity.criteria.accuracy import AccuracyEquality


class ChurnEquality(AccuracyEquality):
    """Per pair of groups, the mean of ``1 − p`` where the baseline decided 1, else of ``p``.

    The baseline's 0/1 decisions are given as ``labels``.
    """

    name = "churn"
    needs_baseline = True
    for_given_pairs_only = True
    sign = -1.0
