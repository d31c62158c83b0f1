"""The paper's own experiments: its figures, and ours beside them."""
