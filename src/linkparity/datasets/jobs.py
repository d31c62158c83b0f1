"""A synthetic job board: seekers, vacancies, a recommender's scores; groups: gender of seekers."""

from os import PathLike
from typing import TYPE_CHECKING

from linkparity.datasets.base import Card, Dataset, packaged_rows
from linkparity.reading.groups import NO_GROUP

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph

CARD = Card(
    name="jobs",
    title="A synthetic job board: seekers linked to the vacancies that fit them",
    nodes=380,
    links=2919,
    attribute="gender",
    groups={"men": 130, "non-binary": 36, "women": 134},
    bipartite=True,
    source="docs/job_board.py",
    terms="MIT licence, as the package; made by its authors",
    citation="none needed; drawn by a script with a fixed seed",
    harms=(
        "Invented: nobody is described, and nothing follows from it about real job boards. Fits "
        "do not depend on gender or age; the scores do, as the script says."
    ),
)


def read(data: str | PathLike[str] | None = None) -> "Graph":
    """Seekers on side 0 with their gender, vacancies on side 1; a link per pair that fits."""
    import torch

    from linkparity.graph.graph import Graph

    people = packaged_rows("jobs-people.csv.gz")
    number = {row["node"]: place for place, row in enumerate(people)}
    pairs = packaged_rows("jobs-scores.csv.gz")
    links = [(number[r["source"]], number[r["target"]]) for r in pairs if r["label"] == "1"]
    names = tuple(CARD.groups)
    gender = [row[CARD.attribute] for row in people]
    return Graph(
        len(people),
        torch.tensor(links),
        torch.tensor([names.index(each) if each else NO_GROUP for each in gender]),
        names,
        torch.tensor([int(not each) for each in gender]),
        tuple(number),
        CARD.attribute,
    )


DATASET = Dataset(CARD, read)
