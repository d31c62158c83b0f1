"""How often intervals of changes cover the truth, over simulated networks.

    python benchmarks/change_coverage.py [--runs 500] [--only NAME]

Two tables score the same pairs. In both, the logit of a pair is a mean for its two groups, plus a
random effect of each node, plus noise of its own; effects and noise are correlated between the
tables. A run draws all of them anew. Printed for each case is the share of runs in which the 95 %
interval of a change holds the true one, and the mean width of that interval. True means are
integrals; true AUCs are means over all runs.
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np

from coverage import NOISE, Scenario
from linkparity.metrics import ScoredPairs
from linkparity.metrics.cell_means import gap
from linkparity.metrics.ranks import auc, cell_areas
from linkparity.metrics.tables.compare import gap_changes, rank_change
from linkparity.pairs.arrays import ArrayPairs
from linkparity.support.arrays import expit

SIZES = (50, 50, 50)


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
    source = ScoredPairs.of(x[0], groups, labels, nodes=nodes).source
    columns = replace(source.columns, before=x[1], before_logits=True)
    now = ScoredPairs(ArrayPairs(columns, source.kinds, source.nodes), seed=seed)
    was = replace(now, source=now.source.before(), known={})
    truth = dict(zip(("dp", "eo"), case.truth(source.kinds.key), strict=True))
    changes = gap_changes(now, was)["subgroup"] | rank_change(now, was)
    found = {name: (*changes[name].interval, truth[name]) for name in truth}
    found["auc"] = (*changes["auc"].interval, auc(now).value, auc(was).value)
    found["rdp"] = (*changes["rdp"].interval, *cell_areas(now)[0], *cell_areas(was)[0])
    return found


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
