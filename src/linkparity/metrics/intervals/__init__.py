"""Confidence intervals of means, gaps, AUCs and their changes, by node or by pair."""
