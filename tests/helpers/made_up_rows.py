"""Rows of an experiment that never ran: three groups, three seeds, one name with markup in it."""

import numpy as np

from linkparity.experiments.fit import LEVELS
from linkparity.experiments.results import Results
from linkparity.experiments.rows import Row
from linkparity.metrics.results import CellScore

EVIL = "<script>alert(1)</script>\"'&"
GROUPS = ("left", EVIL, "right")
PAIRS = [(a, b) for place, a in enumerate(GROUPS) for b in GROUPS[place:]]
SETTINGS = {"gamma": 100.0, "pairs": "sampled", "dimension": 8, "postprocess": None}


def made_up_row(dataset, model, criterion, gamma, seed, bare=False):
    """A row whose numbers depend on what it is about alone."""
    rng = np.random.default_rng([seed, int(gamma), *f"{dataset} {model} {criterion}".encode()])
    pull = gamma / (gamma + 20)
    means = 0.1 + 0.06 * np.arange(len(PAIRS)) * (1 - 0.9 * pull) + 0.005 * rng.random(6)
    auc = (0.95 if model == "cne" else 0.9) - 0.1 * pull + 0.01 * rng.random()
    links = 0.3 + 0.05 * np.arange(6) * (1 - 0.9 * pull * (criterion == "eo"))
    gaps = {"dp": np.ptp(means), "eo": np.ptp(links)}
    values = {"auc": auc, **{k: float(v) for k, v in gaps.items()}, "rb": float("nan")}
    cells = tuple(
        CellScore(pair, 100 + place, 10, float(means[place]), float(links[place]))
        for place, pair in enumerate(PAIRS)
    )
    epochs = list(range(0, 40, 2))
    history = {name: [float(np.exp(-e / 9)) for e in epochs] for name in ("loss", "kl", "gap")}
    quantiles = [
        {"groups": list(pair), "pairs": _spread(means[k]), "links": _spread(links[k])}
        for k, pair in enumerate(PAIRS)
    ]
    extra = {} if bare else {
        "cells": cells, "history": {"epoch": epochs} | history, "quantiles": quantiles,
    }  # fmt: skip
    return Row(
        dataset, model, criterion, gamma, seed, values, 0.5 + seed + pull, epochs=40, pairs=1000,
        links=500, intervals={"dp": (values["dp"] - 0.01, values["dp"] + 0.01)},
        notes=(f"A note of {EVIL}.",), settings=dict(SETTINGS), versions={"linkparity": "0.1.0"},
        id=f"{dataset}-{model}-{criterion}-{gamma}-{seed}", **extra,
    )  # fmt: skip


def _spread(mean):
    odds = mean / (1 - mean) * np.exp(np.array(LEVELS) * 4 - 2)
    return [float(f"{p:.6g}") for p in odds / (1 + odds)]


def made_up_results(seeds=3, gammas=(10.0, 100.0), bare=False, datasets=("polbooks", "mine")):
    """Two data sets, two models, plain and for dp and eo with two weights."""
    kinds = [("none", 0.0), *((c, g) for c in ("dp", "eo") for g in gammas)]
    return Results(
        tuple(
            made_up_row(dataset, model, criterion, gamma, seed, bare)
            for dataset in datasets
            for model in ("cne", "dot-product")
            for criterion, gamma in kinds
            for seed in range(seeds)
        )
    )


def write_rows(results, file):
    """A file of rows."""
    file.write_text("".join(row.to_json() + "\n" for row in results))
    return file
