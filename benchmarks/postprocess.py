"""Which links the tilts of equal opportunity should be fitted to: gap and AUC on held-out pairs.

    python benchmarks/postprocess.py [--data polblogs …] [--models cne …] [--seeds 3] [--first 0]

Orders, each with one tilt per pair of groups: none; fitted to the links that the model was trained
on; fitted to a tenth of the training links by a twin that has not seen these, whose tilts the model
trained on all links keeps (what ``postprocess="i-projection"`` does); the same without the factor
n / (n + 10) for n links; the twin itself; the mean of the tilts of three twins, each without
another tenth; the mean of four, each without another fifth (as ``tune`` does, which also leaves out
the links that it judges on).
Prints one JSON line per data set, model and seed, then the means.
"""

import argparse
import json
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

import linkparity as lp
from defaults import gap, load
from linkparity.criteria.constrained_group_pairs import group_pair_sizes
from linkparity.experiments.steady_eo import validation_splits
from linkparity.models.prediction.postprocess import STEADY, Tilts, fit_tilt_table, withhold_links
from linkparity.models.training.objective import PairWeights

ORDERS = (
    "plain", "training links", "withheld, refitted", "withheld, no factor", "withheld, twin",
    "withheld, 3 twins", "fifths, 4 twins",
)  # fmt: skip


def tilts(
    predictor: lp.LinkPredictor, graph: lp.Graph, unseen: torch.Tensor | None = None
) -> Tilts:
    """Tilts of equal opportunity on the links of a graph, or on unseen ones of them."""
    eo, generator = lp.criteria.CRITERIA["eo"], torch.Generator().manual_seed(0)
    weights = PairWeights(1.0, 1.0)
    return fit_tilt_table(predictor.model_, graph, eo, "model", 0.0, weights, generator, unseen)


def fit_twin(
    model: str, train: lp.Graph, seed: int, part: lp.Split | None
) -> tuple[lp.LinkPredictor, torch.Tensor, Tilts]:
    """A twin, the links that it has not seen, and its tilts on these."""
    assert part is not None
    twin = lp.LinkPredictor(model, seed=seed).fit(part.train)
    links = part.test.index[part.test.label == 1]
    return twin, links, tilts(twin, train, links)


def measured(name: str, model: str, seed: int) -> dict[str, tuple[float, float]]:
    """AUC and eo gap on held-out pairs, by order."""
    split = lp.split_links(load(name), seed=seed)
    train, test = split.train, split.test
    whole = lp.LinkPredictor(model, seed=seed).fit(train)
    learnt = tilts(whole, train)
    twin, links, unseen = fit_twin(model, train, seed, withhold_links(train, seed))
    count = group_pair_sizes(replace(train, links=links), links=True)
    factor = torch.from_numpy(count / (count + STEADY))
    full = Tilts(torch.where(factor > 0, unseen.table / factor, 0.0))
    tenths = [withhold_links(train, seed + shift) for shift in (1000, 2000)]
    three = Tilts.mean([unseen, *(fit_twin(model, train, seed, part)[2] for part in tenths)])
    fifths = validation_splits(train, 0.2, 5, seed + 1)[1:]
    four = Tilts.mean([fit_twin(model, train, seed, part)[2] for part in fifths])
    used = (
        (whole, None), (whole, learnt), (whole, unseen), (whole, full), (twin, unseen),
        (whole, three), (whole, four),
    )  # fmt: skip
    found = {}
    for order, (predictor, table) in zip(ORDERS, used, strict=True):
        groups, linked = train.group[test.index], test.label == 1
        logits = predictor.predict_logits(test.index)
        logits = logits if table is None else logits + table.of(groups).numpy()
        eo = gap(logits[linked.numpy()], groups[linked])
        found[order] = (float(roc_auc_score(test.label, logits)), eo)
    return found


def main() -> None:
    """Measure every combination."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["polblogs"])
    parser.add_argument("--models", nargs="+", default=["cne"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    options = parser.parse_args()
    for name, model in product(options.data, options.models):
        rows = []
        for seed in range(options.first, options.first + options.seeds):
            rows.append(measured(name, model, seed))
            print(json.dumps({"data": name, "model": model, "seed": seed, **rows[-1]}), flush=True)
        print(f"{name}, {model}: mean of {len(rows)} seeds (auc, eo)")
        for order in ORDERS:
            auc, eo = np.mean([row[order] for row in rows], axis=0)
            print(f"  {order:20} {auc:.3f} {eo:.3f}")


if __name__ == "__main__":
    main()
