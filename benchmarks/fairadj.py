"""FairAdj beside its published figures, on the one published graph that linkparity has.

The ego network 1684 of the Facebook data: groups by gender, the other features standardised, a
tenth of the links for testing, as many other test pairs as links. Printed are auc and difference
of the mean predictions within groups and between groups in percent, as by Li et al. (2021).
Published, means of 20 runs: VGAE 94.7 and 2.03, 5 steps 94.7 and 1.96, 20 steps 94.6 and 1.77.

    LINKPARITY_DATA=… python benchmarks/fairadj.py [SEEDS]
"""

import sys

import numpy as np
import torch

import linkparity as lp
from linkparity.datasets.cache import read_files
from linkparity.datasets.facebook import ARCHIVE, FEATURES

EGO = 1684


def ego_network() -> tuple[lp.Graph, torch.Tensor]:
    """The network without its ego, and the standardised features that are not gender."""
    text = {name: content.decode() for name, content in read_files(ARCHIVE, None).items()}
    titles = [line.split(" ", 1)[1] for line in text[f"{EGO}.featnames"].splitlines()]
    rows = np.array([line.split(" ") for line in text[f"{EGO}.feat"].splitlines()], dtype=int)
    node, values = rows[:, 0], rows[:, 1:]
    gender = np.array([title in FEATURES for title in titles])
    keep = values[:, gender].sum(axis=1) == 1
    number = {int(each): k for k, each in enumerate(node[keep])}
    ends = [tuple(map(int, line.split())) for line in text[f"{EGO}.edges"].splitlines()]
    links = {tuple(sorted(map(number.get, pair))) for pair in ends if set(pair) <= set(number)}
    features = values[keep][:, ~gender].astype(float)
    features = features[:, features.std(axis=0) > 0]
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    group = values[keep][:, gender].argmax(axis=1)
    return lp.Graph(len(number), sorted(links), group), torch.from_numpy(features).float()


def figures(graph: lp.Graph, features: torch.Tensor, steps: int, seed: int) -> tuple[float, float]:
    """Area under the curve and gap of one run, in percent."""
    split = lp.split_links(graph, test=0.1, seed=seed)
    options = {"features": features}
    model = lp.LinkPredictor("fairadj", strength=steps, seed=seed, options=options).fit(split.train)
    index, label = split.test.index, split.test.label == 1
    drawn = torch.randperm(int((~label).sum()), generator=torch.Generator().manual_seed(seed))
    other = index[~label][drawn[: int(label.sum())]]
    index = torch.cat([index[label], other])
    prob = model.predict_proba(index)
    same = (graph.group[index[:, 0]] == graph.group[index[:, 1]]).numpy()
    links, others = prob[: int(label.sum())], prob[int(label.sum()) :]
    auc = (links[:, None] > others).mean() + (links[:, None] == others).mean() / 2
    return 100 * auc, 100 * abs(prob[same].mean() - prob[~same].mean())


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    graph, features = ego_network()
    print(graph)
    for steps in (0, 5, 20):
        found = np.array([figures(graph, features, steps, seed) for seed in range(seeds)])
        auc, gap = (f"{m:.2f} ± {d:.2f}" for m, d in zip(found.mean(0), found.std(0), strict=True))
        print(f"{steps:2} steps: auc {auc}, gap {gap}")


if __name__ == "__main__":
    main()
