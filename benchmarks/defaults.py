"""What the default `pairs` and γ of each criterion should be: AUC at equal gap.

    python benchmarks/defaults.py run ROWS [--data polbooks …] [--models cne …] [--criteria dp …]
        [--pairs candidates all sampled] [--gammas 1 3 …] [--seeds 5]
    python benchmarks/defaults.py report ROWS
    python benchmarks/defaults.py bias [--draws 20]

``run`` fits every combination that ROWS (a file of JSON lines) does not hold yet. A row has the AUC
on held-out pairs, the gap over *all* candidates (pairs that are no training link; exact, not a
sample) for dp, over held-out links for eo, and over weighted held-out pairs for other criteria.
``report`` prints the tables of docs/training.md. ``bias`` compares the regularizer on batches of
drawn pairs with its value on all pairs.
"""

import argparse
import json
import warnings
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

import linkparity as lp
from linkparity.datasets import block_model
from linkparity.experiments.compare_with_plain import criterion_gap
from linkparity.graph.pairs import PairSpace
from linkparity.metrics.evaluation import scored_sets
from linkparity.models.training.loop import training_pairs
from linkparity.models.training.objective import Objective, Settings
from linkparity.support.arrays import expit

GAMMAS = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
#: Block models: three groups of unequal size, links within groups 2 and 8 times as frequent.
BLOCKS = {"blocks-2": 2.0, "blocks-8": 8.0}
#: Criteria whose gap is measured over held-out pairs.
OTHERS = ("weak-dp", "equalized-odds", "accuracy")


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
    """AUC, and the gaps over all candidates, over held-out links and over held-out pairs."""
    graph, test = split.train, split.test
    space = PairSpace(graph)
    index = space.nonlink(torch.arange(space.num_nonlinks))
    logits = predictor.predict_logits(test.index)
    linked = test.label.numpy() == 1
    held_out = test.index[test.label == 1]
    scored = scored_sets(predictor, split, None)["test"]
    return {
        "auc": float(roc_auc_score(test.label, logits)),
        "dp": gap(predictor.predict_logits(index), graph.group[index]),
        "eo": gap(logits[linked], graph.group[held_out]),
    } | {
        name: criterion_gap(scored, lp.criteria.CRITERIA[name])
        for name in OTHERS
        if not (graph.bipartite and name == "weak-dp")  # within and between need two groups
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


def report(options: argparse.Namespace) -> None:
    """Print AUC and gap by strength: dp on candidates and on all pairs, then the others."""
    rows = list(map(json.loads, options.rows.read_text().splitlines()))
    columns = [("dp", "candidates"), ("dp", "all"), ("eo", "candidates")]
    columns += [(name, "candidates") for name in OTHERS]
    for criterion, pairs in columns:
        shown = [r for r in rows if (r["criterion"], r["pairs"]) == (criterion, pairs)]
        if not shown:
            continue
        gammas = sorted({row["gamma"] for row in shown})
        heading = ["data set, model (seeds)", "plain", *(f"γ {gamma:g}" for gamma in gammas)]
        print(f"\n{criterion}, pairs {pairs}: AUC / gap\n| {' | '.join(heading)} |")
        print("| --- " * len(heading) + "|")
        for data, model in dict.fromkeys((row["data"], row["model"]) for row in shown):
            own = [r for r in rows if (r["data"], r["model"]) == (data, model)]
            of = [r for r in own if (r["criterion"], r["pairs"]) == (criterion, pairs)]
            cells = [[r for r in own if r["criterion"] == "none"]]
            cells += [[r for r in of if r["gamma"] == gamma] for gamma in gammas]
            seeds = len({row["seed"] for row in of})
            texts = [_mean_text(cell, criterion) for cell in cells]
            print(f"| {data}, {model} ({seeds}) | {' | '.join(texts)} |")


def _mean_text(rows: list[dict[str, Any]], measure: str) -> str:
    if not rows:
        return ""
    return f"{fmean(r['auc'] for r in rows):.3f} / {fmean(r[measure] for r in rows):.4f}"


def bias(options: argparse.Namespace) -> None:
    """Print the mean divergence on drawn pairs, by their number, beside that on all pairs."""
    graph = lp.split_links(lp.load("polblogs"), seed=0).train
    model = lp.LinkPredictor("cne", seed=0).fit(graph).model_
    print("| partners per node | mean divergence ÷ exact | its deviation | gap ÷ exact |")
    print("| --- | --- | --- | --- |")
    exact = _divergences(model, graph, Settings(method="blocks"), 1)[0]
    for negatives in (1, 3, 10, 30, 100):
        drawn = Settings(method="samples", negatives=negatives)
        drawn.generator.manual_seed(0)
        found = _divergences(model, graph, drawn, options.draws) / exact
        mean, deviation = found.mean(axis=0), found.std(axis=0)
        print(f"| {negatives} | {mean[0]:.4f} | {deviation[0]:.4f} | {mean[1]:.4f} |")


def _divergences(
    model: lp.LinkModel, graph: lp.Graph, settings: Settings, draws: int
) -> np.ndarray:
    """``(draws, 2)`` divergence to dp over candidates, and the gap."""
    objective = Objective.of("dp", 100.0, "model", 0.0)
    pairs = training_pairs(model, graph, objective, settings)
    found = []
    for _ in range(draws):
        batch = pairs.score(model, 0)
        batch.fit_loss()
        parity = objective.parity(batch)
        assert parity is not None
        found.append((parity.kl, parity.gap))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("what", choices=("run", "report", "bias"))
    parser.add_argument("rows", type=Path, nargs="?", default=Path("defaults.jsonl"))
    parser.add_argument("--data", nargs="+", default=["polbooks", "polblogs", "ml100k", *BLOCKS])
    parser.add_argument("--models", nargs="+", default=["cne", "dot-product", "gae"])
    parser.add_argument("--criteria", nargs="+", default=["dp"])
    parser.add_argument("--pairs", nargs="+", default=["candidates", "all"])
    parser.add_argument("--gammas", nargs="+", type=float, default=GAMMAS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    {"run": run, "report": report, "bias": bias}[options.what](options)


if __name__ == "__main__":
    main()
