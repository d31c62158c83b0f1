"""Churn equality: the same expected disagreement with a baseline's decisions, per group pair."""

from linkparity.criteria.accuracy import AccuracyEquality


class ChurnEquality(AccuracyEquality):
    """Per group pair, the mean of ``1 − p`` where the baseline said yes, of ``p`` where it said no.

    The baseline's 0/1 decisions are given as ``labels``.
    """

    name = "churn"
    sign = -1.0
