"""How often intervals of changes cover the truth, over simulated networks.

    python benchmarks/change_coverage.py [--runs 500] [--only NAME]

Two tables score the same pairs. In both, the logit of a pair is a mean for its two groups, plus a
random effect of each node, plus noise of its own; effects and noise are correlated between the
tables. A run draws all of them anew. Printed for each case is the share of runs in which the 95 %
interval of a change holds the true one, and the mean width of that interval. True means are
integrals; true AUCs are means over all runs.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from coverage import NOISE, Scenario
from linkparity.metrics import ScoredPairs
from linkparity.metrics.cell_means import gap
from linkparity.metrics.gaps import cell_covariance
from linkparity.metrics.intervals.changes import (
    difference_interval,
    gap_change_interval,
    largest_change_interval,
)
from linkparity.metrics.intervals.clusters import PairClusters
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.delong import levels, placements
from linkparity.support.arrays import expit

CONFIDENCE = 0.95
SIZES = (50, 50, 50)
SIGNS = ([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, -1, -1])


@dataclass(frozen=True)
class Case:
    """A network scored twice.

    Attributes:
        name: Shown in the table.
        now: Network of the table that is compared; nodes and pairs are those of ``was`` too.
        share: Share of the distance of each mean logit from −1 in the other table.
        correlation: Of the effects of a node, and of the noise of a pair, in the two tables.
    """

    name: str
    now: Scenario
    share: float
    correlation: float = 0.9

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """``(P, 2)`` groups and nodes, ``(P,)`` labels, ``(2, P)`` logits now and before."""
        drawn = self.now.draw(rng)
        groups, nodes, x = drawn["groups"], drawn["nodes"], drawn["logits"]
        level = self.now.level(groups)
        rest = np.sqrt(1 - self.correlation**2)
        effects = self.now.effect * rng.normal(size=sum(self.now.sizes))
        other = effects[nodes].sum(axis=1) + NOISE * rng.normal(size=len(x))
        was = -1 + self.share * (level + 1) + self.correlation * (x - level) + rest * other
        return groups, nodes, drawn["labels"], np.stack([x, was])

    def truth(self, key: np.ndarray) -> tuple[float, float]:
        """The true changes of dp and of eo."""
        points, w = np.polynomial.hermite_e.hermegauss(40)
        scale = np.sqrt(2 * self.now.effect**2 + NOISE**2)
        level = self.now.level(key)[:, None, None]
        one, two = np.meshgrid(points, points, indexing="ij")
        both = np.outer(w, w) / w.sum() ** 2
        rest = np.sqrt(1 - self.correlation**2)
        now = expit(level + scale * one)
        was = expit(-1 + self.share * (level + 1) + scale * (self.correlation * one + rest * two))
        means = [(h * both).sum(axis=(1, 2)) for h in (now, was)]
        links = (now * both).sum(axis=(1, 2))
        over = [(now * h * both).sum(axis=(1, 2)) / links for h in (now, was)]
        return gap(means[0]) - gap(means[1]), gap(over[0]) - gap(over[1])


CASES = (
    Case("same means", Scenario("", SIZES, 1.0), 1.0),
    Case("gap doubled", Scenario("", SIZES, 1.0), 0.5),
    Case("before at parity", Scenario("", SIZES, 1.0), 0.0),
    Case("both at parity", Scenario("", SIZES, 1.0, equal=True), 1.0),
    Case("uncorrelated tables", Scenario("", SIZES, 1.0), 0.5, 0.0),
    Case("sparse, hubs", Scenario("", (60, 80, 160), 0.7, 0.08, hubs=0.7), 0.7),
    Case("5 groups", Scenario("", (50, 50, 60, 70, 80), 0.7, 0.3), 0.7),
    Case("3 groups of 15", Scenario("", (15, 15, 15), 1.0), 0.7),
)


def run_once(case: Case, rng: np.random.Generator, seed: int) -> dict[str, tuple[float, ...]]:
    """The ends of every interval, then what is needed for the truth."""
    groups, nodes, labels, x = case.draw(rng)
    key, cell = np.unique(np.sort(groups, axis=1), axis=0, return_inverse=True)
    size = len(key)
    scored = ScoredPairs.of(
        logits=x.reshape(-1),
        groups=np.concatenate([cell, cell + size]),
        nodes=np.tile(nodes, (2, 1)),
    )
    found = {}
    truth = dict(zip(("dp", "eo"), case.truth(key), strict=True))
    code = scored.groups
    for name, counted in (("dp", np.ones(len(cell))), ("eo", labels.astype(float))):
        weight = np.tile(counted, 2)
        mean = np.bincount(code, weight * scored.prob) / np.bincount(code, weight)
        spread = cell_covariance(scored, weight, mean).result()
        ends = gap_change_interval(mean[:size], mean[size:], spread, CONFIDENCE, seed)
        found[name] = (*ends, truth[name])
    two = PairClusters.of(np.tile(nodes, (2, 1)))
    level = [levels(each) for each in x]
    area, spread = _area_change(two, level, labels == 1)
    found["auc"] = (*difference_interval(area[0] - area[1], spread[2], CONFIDENCE), *area)
    each = [_area_change(two, level, cell == c) for c in range(size)]
    now, was = np.array([area for area, _ in each]).T
    spreads = [Spread.joined([three[i] for _, three in each]) for i in range(3)]
    found["rdp"] = (*largest_change_interval(now, was, spreads, CONFIDENCE), *now, *was)
    return found


def _area_change(
    clusters: PairClusters, level: list[np.ndarray], inside: np.ndarray
) -> tuple[list[float], list[Spread]]:
    """AUCs of some pairs against the rest now and before; spreads of both and of the change."""
    links = inside.astype(float)
    columns, area = [], []
    for each in level:
        beats, beaten = placements(each, links, 1 - links)
        columns += [beats[each], beaten[each]]
        area.append(float(links @ beats[each] / links.sum()))
    one, zero = np.array([links, 1 - links]).T, np.zeros((len(links), 2))
    values = np.tile(np.array(columns).T, (2, 1))
    weight = np.block([[one, zero], [zero, one]])
    spread = clusters.sum_covariance(values, weight, np.repeat(area, 2)).result()
    return area, [spread.of_sum(np.array(sign)) for sign in SIGNS]


def report(case: Case, runs: int, seed: int) -> None:
    """One row of the table."""
    rng = np.random.default_rng(seed)
    gathered = [run_once(case, rng, run) for run in range(runs)]
    columns = []
    for name in gathered[0]:
        each = np.array([found[name] for found in gathered])
        low, high, truth = each[:, 0], each[:, 1], each[:, 2].mean()
        if name in ("auc", "rdp"):
            now, was = np.split(each[:, 2:].mean(axis=0), 2)
            truth = now.max() - was.max()
        covered = np.mean((low - 1e-12 <= truth) & (truth <= high + 1e-12))
        columns.append(f"{covered:.3f} ({(high - low).mean():.3f})")
    print(f"| {case.name} | {' | '.join(columns)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--runs", type=int, default=500, help="Draws per case.")
    parser.add_argument("--only", help="Cases whose name contains this.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    options = parser.parse_args()
    print(f"| case | dp | eo | auc | rdp |\n{'| --- ' * 5}|")
    for case in CASES:
        if options.only is None or options.only in case.name:
            report(case, options.runs, options.seed)


if __name__ == "__main__":
    main()
