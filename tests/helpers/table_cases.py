"""Score tables for the tests: three groups, ids that break careless readers."""

import gzip

import numpy as np
import pandas as pd

from linkparity.cli import command as cli

IDS = ["007", "7", "é", 'a"b', "x,y", "9007199254740993", "9007199254740992", "NULL", "nan", " s "]


def make_scores(nodes=30, seed=0, extreme=False):
    """A frame of scores, one of nodes, and the groups ``(P, 2)`` as numbers."""
    rng = np.random.default_rng(seed)
    ids = [*IDS, *(f"n{k:03d}" for k in range(nodes - len(IDS)))][:nodes]
    group = np.concatenate([[0, 1, 2], rng.integers(0, 3, nodes - 3)])
    i, j = np.triu_indices(nodes, 1)
    order = rng.permutation(len(i))
    i, j = i[order], j[order]
    flip = rng.random(len(i)) < 0.5
    i, j = np.where(flip, j, i), np.where(flip, i, j)
    logit = rng.normal(size=len(i)) + 0.8 * (group[i] == group[j]) - 0.3 * (group[i] + group[j])
    score = 1 / (1 + np.exp(-logit))
    label = (rng.random(len(i)) < score).astype(int)
    if extreme:
        score[::17], score[5::29] = 0.0, 1.0
    scores = pd.DataFrame(
        {
            "source": np.array(ids, dtype=object)[i],
            "target": np.array(ids, dtype=object)[j],
            "score": score,
            "label": label,
        }
    )
    people = pd.DataFrame({"node": ids, "kind": np.array(["red", "green", "blue"])[group]})
    number = np.array([2, 1, 0])[group]  # names stand in sorted order: blue, green, red
    return scores, people, np.stack([number[i], number[j]], axis=1)


def write(frame, path):
    """Write a frame by the path's extension."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def read(path):
    """Read a table with its ids as text."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    sep = "\t" if ".tsv" in path.name else ","
    types = {"source": str, "target": str}
    return pd.read_csv(path, sep=sep, dtype=types, keep_default_na=False)


def exit_code(*args):
    """Run a command; its exit code."""
    try:
        cli.main([str(arg) for arg in args])
    except SystemExit as stop:
        return stop.code or 0
    raise AssertionError("main always exits")
