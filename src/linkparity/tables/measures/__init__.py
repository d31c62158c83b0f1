"""Measures of a table from a few scans over its rows."""
