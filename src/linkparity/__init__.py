"""Measure and reduce disparity between groups in link prediction."""

__version__ = "0.1.0"
