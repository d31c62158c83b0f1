"""Confidence intervals: of AUCs, and of largest gaps."""
