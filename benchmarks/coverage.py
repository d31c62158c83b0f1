"""How often intervals cover the truth, over simulated networks.

    python benchmarks/coverage.py [--runs 1000] [--only NAME] [--small]

Scores depend on nodes: the logit of a pair is a mean for its two groups, plus a random effect of
each node, plus noise of its own. A run draws nodes, pairs, scores and labels anew. Printed for each
scenario and each nominal level is the share of runs in which an interval holds the true value: of
the cells' means (mean and lowest over cells), of single differences between two means, and of the
largest gap, auc and rdp; beside it that of the largest gap when pairs are treated as independent.
``--small`` runs groups of few nodes instead. True means are integrals; those of auc and rdp are
means over all runs.
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from linkparity.metrics import ScoredPairs
from linkparity.metrics.gaps import dp, eo
from linkparity.metrics.intervals.estimates import critical, difference_errors, mean_intervals
from linkparity.metrics.ranks import auc, cell_areas, rdp
from linkparity.support.arrays import expit

LEVELS = (0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Scenario:
    """A kind of network.

    Attributes:
        name: Shown in the table.
        sizes: Nodes of each group; of a bipartite network, the first half is one side.
        effect: Standard deviation of the nodes' effects on the logit.
        density: Share of the possible pairs that are in the table.
        hubs: Standard deviation of the logarithm of how often a node is in a pair.
        bipartite: Whether pairs join the two sides only.
        equal: Whether all means are equal.
    """

    name: str
    sizes: tuple[int, ...]
    effect: float
    density: float = 1.0
    hubs: float = 0.0
    bipartite: bool = False
    equal: bool = False

    def draw(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Pairs with scores, labels, groups and nodes."""
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        half = len(self.sizes) // 2
        if self.bipartite:
            nodes = np.stack(
                np.meshgrid(np.flatnonzero(group < half), np.flatnonzero(group >= half))
            )
            nodes = nodes.reshape(2, -1).T
        else:
            nodes = np.stack(np.triu_indices(len(group), 1), axis=1)
        if self.density < 1:
            often = np.exp(self.hubs * rng.normal(size=len(group)) - self.hubs**2 / 2)
            chance = self.density * often[nodes].prod(axis=1)
            nodes = nodes[rng.random(len(nodes)) < chance]
        groups = group[nodes]
        effects = self.effect * rng.normal(size=len(group))
        logits = (
            self.level(groups) + effects[nodes].sum(axis=1) + NOISE * rng.normal(size=len(nodes))
        )
        labels = (rng.random(len(nodes)) < expit(logits)).astype(int)
        return {"logits": logits, "groups": groups, "labels": labels, "nodes": nodes}

    def level(self, groups: np.ndarray) -> np.ndarray:
        """``(P,)`` the mean logit of the group pairs ``groups (P, 2)``."""
        if self.equal:
            return np.full(len(groups), -1.0)
        return -1.6 + 0.35 * groups.sum(axis=1) + 0.4 * (groups[:, 0] == groups[:, 1])

    def truth(self, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """True means of the group pairs ``key (M, 2)``: over all pairs, over links."""
        x, w = np.polynomial.hermite_e.hermegauss(80)
        spread = np.sqrt(2 * self.effect**2 + NOISE**2)
        h = expit(self.level(key)[:, None] + spread * x)
        return h @ w / w.sum(), (h**2 @ w) / (h @ w)


NOISE = 0.5
SCENARIOS = (
    Scenario("all pairs, 3 groups of 50", (50, 50, 50), 1.0),
    Scenario("all pairs, effect 0.5", (50, 50, 50), 0.5),
    Scenario("all pairs, at parity", (50, 50, 50), 1.0, equal=True),
    Scenario("unequal groups", (50, 80, 250), 1.0, 0.5),
    Scenario("5 groups", (50, 50, 60, 70, 80), 0.7, 0.3),
    Scenario("sparse table", (100, 100, 100), 1.0, 0.03),
    Scenario("sparse, hubs", (60, 80, 160), 0.7, 0.08, hubs=0.7),
    Scenario("no effect of nodes", (50, 50, 50), 0.0, 0.1),
    Scenario("bipartite", (50, 70, 50, 90), 0.8, 0.3, bipartite=True),
    Scenario("bipartite, one side small", (50, 50, 400, 400), 1.0, 0.05, bipartite=True),
)
SMALL = tuple(Scenario(f"3 groups of {n}", (n, n, n), 1.0) for n in (4, 5, 7, 10, 15, 20, 30))


Covered = dict[tuple[str, float], Any]


def run_once(scenario: Scenario, rng: np.random.Generator, seed: int) -> Covered:
    """Whether each interval of one draw covers; the AUCs themselves, to find their truth."""
    scored = ScoredPairs.of(**scenario.draw(rng), seed=seed)
    truth = scenario.truth(scored.source.kinds.key)
    found = mean_coverage(scored, truth[0])
    kinds = {
        "dp": (dp, scored, scored.means.mean, truth[0]),
        "eo": (eo, scored, scored.means.link_mean, truth[1]),
        "dp, pairs": (dp, replace(scored, by_node=False, known={}), scored.means.mean, truth[0]),
    }
    for name, (measure, pairs, mean, real) in kinds.items():
        gap = np.ptp(real[~np.isnan(mean)])
        for level in LEVELS:
            low, high = measure(replace(pairs, confidence=level)).interval
            found[name, level] = None if isnan(low) else low - 1e-12 <= gap <= high
    found["auc", 0.0], found["rdp", 0.0] = auc(scored).value, cell_areas(scored)[0]
    for level in LEVELS:
        found["auc", level] = auc(replace(scored, confidence=level)).interval
        found["rdp", level] = rdp(replace(scored, confidence=level)).interval
    return found


def mean_coverage(scored: ScoredPairs, truth: np.ndarray) -> Covered:
    """Whether the intervals of all means and of all single differences cover."""
    means, filled = scored.means, np.flatnonzero(scored.means.pairs)
    spread = scored.spread("pairs").of(filled)
    mean, truth = means.mean[filled], truth[filled]
    error, freedom = difference_errors(spread)
    two = np.triu_indices(len(mean), 1)
    apart = np.abs(np.subtract.outer(mean - truth, mean - truth))[two]
    found: Covered = {}
    for level in LEVELS:
        low, high = mean_intervals(mean, spread, level).T
        found["mean", level] = (low <= truth) & (truth <= high)
        found["difference", level] = apart <= critical((1 - level) / 2, freedom[two]) * error[two]
    return found


def report(scenario: Scenario, runs: int, seed: int) -> None:
    """One row of the table per level."""
    rng = np.random.default_rng(seed)
    gathered = defaultdict(list)
    for run in range(runs):
        for name, value in run_once(scenario, rng, run).items():
            gathered[name].append(value)
    for level in LEVELS:
        columns = []
        for name in ("mean", "difference"):
            each = np.mean(gathered[name, level], axis=0)
            columns.append(f"{each.mean():.3f} ({each.min():.3f})")
        for name in ("dp", "eo", "auc", "rdp", "dp, pairs"):
            each = gathered[name, level]
            if name in ("auc", "rdp"):
                truth = np.max(np.mean(gathered[name, 0.0], axis=0))
                each = [None if isnan(low) else low <= truth <= high for low, high in each]
            known = [value for value in each if value is not None]
            missing = "" if len(known) == len(each) else f" ({len(each) - len(known)} undefined)"
            columns.append(f"{np.mean(known):.3f}{missing}" if known else "undefined")
        print(f"| {scenario.name} | {level} | {' | '.join(columns)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="Draws per scenario.")
    parser.add_argument("--only", help="Scenarios whose name contains this.")
    parser.add_argument("--small", action="store_true", help="Groups of few nodes.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    options = parser.parse_args()
    heads = (
        "scenario",
        "nominal",
        "means (lowest)",
        "differences (lowest)",
        "dp",
        "eo",
        "auc",
        "rdp",
    )
    print(f"| {' | '.join(heads)} | dp, independent pairs |\n{'| --- ' * (len(heads) + 1)}|")
    for scenario in SMALL if options.small else SCENARIOS:
        if options.only is None or options.only in scenario.name:
            report(scenario, options.runs, options.seed)


if __name__ == "__main__":
    main()
