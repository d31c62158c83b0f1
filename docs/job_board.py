"""Draw the synthetic job board that the package carries: ``python docs/job_board.py``.

300 seekers and 80 vacancies are invented; each seeker has scores for 60 vacancies. With a skill
q ~ N(0, 1) per pair and a seeker's own level u ~ N(0, 0.3²),

    label ~ Bernoulli(σ(−2.2 + 1.4 q + u))
    score = σ(−2.2 + 1.1 q + u + GENDERS + AGES + STEREOTYPES + e),  e ~ N(0, 0.5²)

so that links are equally frequent in every group, and the scores are not.
"""

import argparse
import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from linkparity.cli.output import say

FILES = Path(__file__).parents[1] / "src" / "linkparity" / "datasets" / "files"
SEED = 2021
#: Number of seekers, and what the recommender adds to their logits.
GENDERS = {"men": (130, 0.35), "women": (134, -0.25), "non-binary": (36, -0.5)}
AGES = {"18 to 29": (100, 0.15), "30 to 49": (120, 0.1), "50 and over": (80, -0.35)}
#: Number of vacancies.
SECTORS = {"care": 18, "construction": 14, "education": 16, "sales": 16, "technology": 16}
#: What the recommender adds for a gender and a sector.
STEREOTYPES = {
    ("men", "technology"): 0.6,
    ("men", "construction"): 0.5,
    ("men", "care"): -0.6,
    ("women", "care"): 0.7,
    ("women", "education"): 0.4,
    ("women", "technology"): -0.6,
    ("women", "construction"): -0.5,
}
#: Vacancies with a score, per seeker.
CANDIDATES = 60


def draw(seed: int = SEED) -> tuple[list[Sequence[object]], list[Sequence[object]]]:
    """Rows of scores and of people, each below its header."""
    generator = np.random.default_rng(seed)
    genders = _shuffled({name: count for name, (count, _) in GENDERS.items()}, generator)
    ages = _shuffled({name: count for name, (count, _) in AGES.items()}, generator)
    sectors = _shuffled(SECTORS, generator)
    bias = np.array([GENDERS[g][1] + AGES[a][1] for g, a in zip(genders, ages, strict=True)])
    stereotype = np.array([[STEREOTYPES.get((g, s), 0.0) for s in sectors] for g in genders])
    seekers, vacancies = stereotype.shape
    order = generator.random((seekers, vacancies)).argsort(axis=1, kind="stable")
    shown = np.sort(order[:, :CANDIDATES], axis=1)
    level = generator.normal(0, 0.3, (seekers, 1))
    skill = generator.normal(size=(seekers, vacancies))
    noise = generator.normal(0, 0.5, (seekers, vacancies))
    fit = 1 / (1 + np.exp(2.2 - 1.4 * skill - level))
    label = generator.random((seekers, vacancies)) < fit
    logit = -2.2 + 1.1 * skill + level + bias[:, None] + stereotype + noise
    score = 1 / (1 + np.exp(-logit))
    scores: list[Sequence[object]] = [("source", "target", "score", "label")]
    for seeker, vacancy in ((s, v) for s in range(seekers) for v in shown[s]):
        ends = f"s{seeker + 1:04}", f"v{vacancy + 1:03}"
        scores.append((*ends, f"{score[seeker, vacancy]:.4f}", int(label[seeker, vacancy])))
    people: list[Sequence[object]] = [("node", "gender", "age", "sector")]
    people += [
        (f"s{i:04}", gender, age, "")
        for i, (gender, age) in enumerate(zip(genders, ages, strict=True), start=1)
    ]
    people += [(f"v{i:03}", "", "", sector) for i, sector in enumerate(sectors, start=1)]
    return scores, people


def _shuffled(counts: dict[str, int], generator: np.random.Generator) -> list[str]:
    names = np.repeat(list(counts), list(counts.values()))
    return [str(name) for name in generator.permutation(names)]


def as_csv(rows: Iterable[Sequence[object]]) -> bytes:
    """The text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, rows in zip(("scores", "people"), draw(), strict=True):
        path = FILES / f"jobs-{name}.csv.gz"
        path.write_bytes(gzip.compress(as_csv(rows), 9, mtime=0))
        say(f"wrote {path.name}: {len(rows) - 1:,} rows, {path.stat().st_size:,} bytes")
