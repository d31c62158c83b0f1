"""Whole jobs: train from files, predict into files, experiments, the paper's numbers."""
