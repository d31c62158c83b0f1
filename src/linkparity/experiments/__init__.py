"""Whole jobs: train on a data set or on files, predict from a saved run, run many fits."""
