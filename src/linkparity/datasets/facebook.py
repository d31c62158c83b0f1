"""Ten Facebook ego networks joined; groups: the two anonymised values of gender."""

from os import PathLike
from typing import TYPE_CHECKING

from linkparity.datasets.base import Card, Dataset, simple_graph
from linkparity.datasets.cache import Archive, read_files, read_manifest
from linkparity.reading.groups import NO_GROUP

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph

FEATURES = ("gender;anonymized feature 77", "gender;anonymized feature 78")

CARD = Card(
    name="facebook",
    title="Friendships in ten Facebook ego networks",
    nodes=3955,
    links=85_482,
    attribute="gender",
    groups={"feature 77": 1532, "feature 78": 2423},
    bipartite=False,
    source="https://snap.stanford.edu/data/egonets-Facebook.html",
    terms="cite the authors; the publishers state no licence",
    citation=(
        "J. McAuley and J. Leskovec, Learning to Discover Social Circles in Ego Networks, NIPS 2012"
    ),
    harms=(
        "People are in it because one of ten app users knew them. Gender is two anonymised "
        "values of unpublished meaning; 84 of 4,039 people have neither, and whether theirs is "
        "unknown or non-binary is unclear: as in the paper they are left out."
    ),
)

ARCHIVE = Archive(
    folder="facebook",
    name="facebook.tar.gz",
    url="https://snap.stanford.edu/data/facebook.tar.gz",
    sha256="78594c43169b698e99a77741bc298581af87146e4f3d3e8ad48a48361b5d92b6",
    manifest=read_manifest("facebook.sha256"),
)


def read(data: str | PathLike[str] | None = None) -> "Graph":
    """All ego networks in one graph, each ego linked to everybody in its network.

    A node is kept when exactly one of the two features is set, in ``N.feat`` or, for the ego,
    ``N.egofeat``; ``N.featnames`` says which columns hold them in network N.
    """
    text = {name: content.decode() for name, content in read_files(ARCHIVE, data).items()}
    group: dict[int, int] = {}
    links: list[tuple[int, int]] = []
    for ego in sorted(int(name.split(".")[0]) for name in text if name.endswith(".egofeat")):
        titles = [line.split(" ", 1)[1] for line in text[f"{ego}.featnames"].splitlines()]
        columns = [titles.index(feature) for feature in FEATURES]
        rows = [line.split(" ") for line in text[f"{ego}.feat"].splitlines()]
        own = text[f"{ego}.egofeat"].split()
        for node, values in [(ego, own), *((int(row[0]), row[1:]) for row in rows)]:
            group[node] = _gender([values[column] for column in columns])
        links += [(ego, int(row[0])) for row in rows]
        links += [
            (int(a), int(b))
            for a, b in (line.split() for line in text[f"{ego}.edges"].splitlines())
        ]
    nodes = sorted(group)
    number = {node: i for i, node in enumerate(nodes)}
    pairs = [(number[a], number[b]) for a, b in links]
    groups = [group[node] for node in nodes]
    whole = simple_graph(pairs, groups, tuple(CARD.groups), tuple(nodes), CARD.attribute)
    return whole.subgraph(whole.group >= 0)


def _gender(values: list[str]) -> int:
    return values.index("1") if values.count("1") == 1 else NO_GROUP


DATASET = Dataset(CARD, read, ARCHIVE)
