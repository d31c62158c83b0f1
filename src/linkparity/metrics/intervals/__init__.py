"""Confidence intervals of AUCs (DeLong) and of largest gaps (bootstrap)."""
