"""What the default `pairs` and γ of each criterion should be: AUC at equal gap.

    python benchmarks/defaults.py run ROWS [--data polbooks …] [--models cne …] [--criteria dp …]
        [--pairs candidates all sampled] [--gammas 1 3 …] [--seeds 5]
    python benchmarks/defaults.py report ROWS
    python benchmarks/defaults.py bias

``run`` fits every combination that ROWS (a file of JSON lines) does not hold yet. A row has the AUC
on held-out pairs, the gap over *all* candidates (pairs that are no training link; exact, not a
sample) for dp, and over held-out links for eo. ``report`` prints the tables of docs/training.md.
``bias`` compares the regularizer on batches of drawn pairs with its value on all pairs.
"""

import argparse
import json
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

import linkparity as lp
from linkparity.datasets import block_model
from linkparity.graph.candidates import candidate_pairs
from linkparity.support.arrays import expit

GAMMAS = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
#: Block models: three groups of unequal size, links within groups 2 and 8 times as frequent.
BLOCKS = {"blocks-2": 2.0, "blocks-8": 8.0}


def load(name: str) -> lp.Graph:
    """A data set, or a block model of 900 nodes."""
    if name not in BLOCKS:
        return lp.load(name)
    sizes = (450, 300, 150)
    return block_model(sizes=sizes, degree=12, homophily=BLOCKS[name], spread=0.8, seed=0)


def gap(logits: np.ndarray, groups: torch.Tensor) -> float:
    """Largest difference of the mean probability between two pairs of groups."""
    ends = groups.sort(dim=1).values.numpy()
    known = (ends >= 0).any(axis=1)
    size = int(ends.max()) + 2
    code = (ends[:, 0] + 1) * size + ends[:, 1] + 1
    count = np.bincount(code[known])
    mean = np.bincount(code[known], expit(logits)[known]) / np.maximum(count, 1)
    return float(np.ptp(mean[count > 0]))


def measured(predictor: lp.LinkPredictor, split: lp.Split) -> dict[str, float]:
    """AUC, and the gaps over all candidates and over held-out links."""
    graph, test = split.train, split.test
    index = candidate_pairs(graph)
    logits = predictor.predict_logits(test.index)
    linked = test.label.numpy() == 1
    held_out = test.index[test.label == 1]
    return {
        "auc": float(roc_auc_score(test.label, logits)),
        "dp": gap(predictor.predict_logits(index), graph.group[index]),
        "eo": gap(logits[linked], graph.group[held_out]),
    }


def run(options: argparse.Namespace) -> None:
    """Fit what is missing."""
    keys = ("data", "model", "criterion", "pairs", "gamma", "seed")
    known = set()
    if options.rows.exists():
        rows = map(json.loads, options.rows.read_text().splitlines())
        known = {tuple(row[key] for key in keys) for row in rows}
    for data, seed in product(options.data, range(options.seeds)):
        split = lp.split_links(load(data), seed=seed)
        settings = [
            *product(options.criteria, options.pairs, options.gammas), ("none", "none", 0.0)
        ]  # fmt: skip
        for model, (criterion, pairs, gamma) in product(options.models, settings):
            key = (data, model, criterion, pairs, gamma, seed)
            if key in known:
                continue
            trained = {} if criterion == "none" else {"criterion": criterion, "pairs": pairs}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predictor = lp.LinkPredictor(model, gamma=gamma, seed=seed, **trained)
                predictor.fit(split.train)
            row = dict(zip(keys, key, strict=True)) | measured(predictor, split)
            row["fit_seconds"] = round(predictor.fit_seconds_, 2)
            with options.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--data", nargs="+", default=["polbooks", "polblogs", "ml100k", *BLOCKS])
    parser.add_argument("--models", nargs="+", default=["cne", "dot-product", "gae"])
    parser.add_argument("--criteria", nargs="+", default=["dp"])
    parser.add_argument("--pairs", nargs="+", default=["candidates", "all"])
    parser.add_argument("--gammas", nargs="+", type=float, default=GAMMAS)
    parser.add_argument("--seeds", type=int, default=5)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
