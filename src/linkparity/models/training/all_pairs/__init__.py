"""Training on every pair of a graph at once, in blocks."""
