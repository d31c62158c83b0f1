"""Scored pairs as a stream: sources of chunks, and the sums that passes over them make."""
