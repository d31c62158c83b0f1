"""MovieLens 100K: who rated which movie; groups: age of the users, in seven bins."""

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from linkparity.datasets.base import Card, Dataset
from linkparity.datasets.cache import Archive, read_files, read_manifest
from linkparity.reading.groups import NO_GROUP

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph

CUTS = (18, 25, 35, 45, 50, 56)
BINS = ("under 18", "18-24", "25-34", "35-44", "45-49", "50-55", "56 and over")

CARD = Card(
    name="ml100k",
    title="MovieLens 100K: users linked to the movies that they rated",
    nodes=2625,
    links=100_000,
    attribute="age",
    groups=dict(zip(BINS, (36, 198, 310, 194, 80, 73, 52), strict=True)),
    bipartite=True,
    source="https://grouplens.org/datasets/movielens/100k/",
    terms="research use with acknowledgement; no redistribution, no commercial use",
    citation=(
        "F. M. Harper and J. A. Konstan, The MovieLens Datasets: History and Context, "
        "ACM Transactions on Interactive Intelligent Systems 5(4) (2015)"
    ),
    harms=(
        "Age, gender, occupation and postal code of 943 people, some of whom can be identified "
        "by their ratings. Users of 1997 and 1998, 71 % men and most under 35, each with at "
        "least 20 ratings."
    ),
)

ARCHIVE = Archive(
    folder="ml-100k",
    name="ml-100k.zip",
    url="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
    sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    manifest=read_manifest("ml-100k.sha256"),
)


def read(data: str | PathLike[str] | None = None) -> "Graph":
    """Users on side 0 with their age, movies on side 1 without a group; a link per rating.

    Names are the ids of users and movies in the published files.
    """
    import torch

    from linkparity.graph.graph import Graph

    contents = read_files(ARCHIVE, data)
    users = [line.split("|") for line in contents["u.user"].decode("latin-1").splitlines()]
    ratings = np.array(contents["u.data"].split(), dtype=np.int64).reshape(-1, 4)
    user_ids = [int(user[0]) for user in users]
    movie_ids = np.unique(ratings[:, 1])
    position = np.zeros(max(user_ids) + 1, dtype=np.int64)
    position[user_ids] = np.arange(len(user_ids))
    movies = np.searchsorted(movie_ids, ratings[:, 1]) + len(users)
    ages = np.array([int(user[1]) for user in users])
    group = np.concatenate([np.digitize(ages, CUTS), np.full(len(movie_ids), NO_GROUP)])
    return Graph(
        len(group),
        torch.from_numpy(np.stack([position[ratings[:, 0]], movies], axis=1)),
        torch.from_numpy(group),
        BINS,
        torch.from_numpy(np.repeat([0, 1], [len(users), len(movie_ids)])),
        (*user_ids, *movie_ids.tolist()),
        CARD.attribute,
    )


DATASET = Dataset(CARD, read, ARCHIVE)
