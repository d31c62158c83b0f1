"""How much the gap of equal opportunity in validation depends on the draw of the validation links.

    python benchmarks/steady_eo.py [--data polblogs] [--models maxent cne …] [--gamma 100]
        [--draws 10]

The training links of one split are divided anew for each draw. ``tune`` judges the gap of a setting
(here the regularizer for eo) on the validation links: as it is measured there, and corrected by
plain models of five draws. Prints the mean and the standard deviation of both over the draws, and
the gap between the means over all draws, which both estimate.
"""

import argparse
import warnings

import numpy as np

import linkparity as lp
from linkparity.experiments.steady_eo import SteadyEo, validation_splits
from linkparity.experiments.tune import SPLITS, VALIDATION
from linkparity.metrics.cell_means import gap
from linkparity.metrics.evaluation import scored_sets
from linkparity.metrics.scored_pairs import ScoredPairs


def scored(split: lp.Split, model: str, gamma: float) -> ScoredPairs:
    """The validation pairs with the scores of a model, plain if γ is 0."""
    criterion = "eo" if gamma else None
    predictor = lp.LinkPredictor(model, criterion, gamma=gamma, seed=0).fit(split.train)
    return scored_sets(predictor, split, None)["test"]


def measured(splits: tuple[lp.Split, ...], model: str, gamma: float) -> str:
    """One row of the table."""
    plain = [scored(split, model, 0.0) for split in splits]
    own = [scored(split, model, gamma) for split in splits]
    naive, corrected = [], []
    for k, each in enumerate(own):
        used = [plain[(k + j) % len(splits)] for j in range(SPLITS)]
        naive.append(each.means.eo)
        corrected.append(SteadyEo.of(used).gap(each)[0])
    truth = gap(np.mean([each.means.link_mean for each in own], axis=0))
    columns = [
        f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}" for values in (naive, corrected)
    ]
    return f"| {model} | {truth:.4f} | {' | '.join(columns)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", default="polblogs")
    parser.add_argument("--models", nargs="+", default=["maxent", "dot-product", "cne", "gae"])
    parser.add_argument("--gamma", type=float, default=100.0)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore", lp.SplitWarning)
    train = lp.split_links(lp.load(options.data), test=0.2, seed=40).train
    splits = validation_splits(train, VALIDATION, options.draws, seed=100)
    print("| model | all draws | as measured | corrected |\n| --- | --- | --- | --- |")
    for model in options.models:
        print(measured(splits, model, options.gamma), flush=True)


if __name__ == "__main__":
    main()
