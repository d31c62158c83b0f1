"""The training gap of a block model of 42 groups, with and without its small pairs of groups."""

import numpy as np

import linkparity as lp
from linkparity.datasets.synthetic import block_model
from linkparity.models import MODELS
from linkparity.models.training import constrained, train
from linkparity.support.randomness import stream

EPOCHS = (20, 100, 200)


def graph_of_42_groups() -> lp.Graph:
    """776 nodes in groups of 2 to 58, most links within a group."""
    drawn = np.exp(np.random.default_rng(0).normal(2.7, 0.9, 42))
    sizes = np.maximum(1, np.round(drawn)).astype(int)
    return block_model(tuple(sizes.tolist()), degree=32, homophily=30, spread=0.7, seed=1)


def training_gaps(graph: lp.Graph, method: str, min_pairs: int) -> list[float]:
    """The gap after some of 200 epochs of cne with dp."""
    constrained.MIN_PAIRS = min_pairs
    generator = stream(0, "model")
    model = MODELS["cne"](graph, 8, generator=generator)
    options = {"pairs": "candidates", "method": method, "generator": generator}
    rows = list(train(model, graph, "dp", 100.0, **options))
    return [rows[epoch - 1].gap for epoch in EPOCHS]


def main() -> None:
    """Print one line per method and rule."""
    graph = lp.split_links(graph_of_42_groups(), seed=0).train
    for method, least in (("samples", 0), ("blocks", 0), ("blocks", 100)):
        gaps = "  ".join(f"{gap:.3f}" for gap in training_gaps(graph, method, least))
        print(f"{method:8} at least {least:3} pairs: {gaps}", flush=True)


if __name__ == "__main__":
    main()
