"""Read tables of scores: files and frames, columns, nodes, checks of every row."""
