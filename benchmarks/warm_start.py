"""Whether trials of ``tune`` could start from the plain model: AUC and gap beside a fit of its own.

    python benchmarks/warm_start.py [--data polblogs …] [--models cne …] [--gamma 100] [--seeds 3]

A regularized model is trained as ``train`` would, and by going on from the plain model with a
quarter and with half of the epochs. AUC on held-out pairs; dp over all candidates, eo on held-out
links.
"""

import argparse
import copy
import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
import torch

import linkparity as lp
from defaults import load, measured

#: Shares of the model's epochs that follow the plain model's.
SHARES = (0.25, 0.5)


def fitted(
    model: str, criterion: str, gamma: float, train: lp.Graph, seed: int
) -> Iterator[lp.LinkPredictor]:
    """Plain, regularized from the beginning, and regularized after plain training."""
    plain = lp.LinkPredictor(model, seed=seed).fit(train)
    yield plain
    yield lp.LinkPredictor(model, criterion, gamma=gamma, seed=seed).fit(train)
    for share in SHARES:
        further, generator = copy.deepcopy(plain), torch.Generator().manual_seed(seed)
        epochs = round(share * len(plain.history_))
        for _ in lp.train(
            further.model_, train, criterion, gamma, epochs=epochs, generator=generator
        ):
            pass
        yield further


def main() -> None:
    """Print a table in Markdown, AUC / gap."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--data", nargs="+", default=["polblogs"])
    parser.add_argument("--models", nargs="+", default=["cne", "dot-product", "gae"])
    parser.add_argument("--criteria", nargs="+", default=["dp", "eo"])
    parser.add_argument("--gamma", type=float, default=100.0)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    later = [f"after the plain model, {share:g} of the epochs" for share in SHARES]
    heading = ["data set, model, criterion", "plain", "regularized from the beginning", *later]
    print(f"| {' | '.join(heading)} |\n{'| --- ' * len(heading)}|")
    for name, model, criterion in product(options.data, options.models, options.criteria):
        found = []
        for seed in range(options.seeds):
            split = lp.split_links(load(name), seed=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                every = list(fitted(model, criterion, options.gamma, split.train, seed))
            scores = [measured(each, split) for each in every]
            found.append([(score["auc"], score[criterion]) for score in scores])
        texts = [f"{auc:.3f} / {gap:.4f}" for auc, gap in np.mean(found, axis=0)]
        print(f"| {name}, {model}, {criterion} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
