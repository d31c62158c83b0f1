import hashlib
import io
import math
import os
import re
import tarfile
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path

import pytest
import torch

from linkparity.datasets import DATASETS, DataError, block_model, facebook, load, ml100k, on_disk
from linkparity.datasets.cache import Archive, data_directory, read_files
from linkparity.support.registry import UnknownName

PAPER = {
    "polblogs": (1222, 16714, [586, 636]),
    "polbooks": (105, 441, [49, 43, 13]),
    "jobs": (380, 2919, [130, 36, 134]),
    "ml100k": (2625, 100_000, [36, 198, 310, 194, 80, 73, 52]),
    "facebook": (3955, 85_482, [1532, 2423]),
}
USERS = "".join(
    f"{number}|{age}|F|other|00000\n"
    for number, age in enumerate((7, 17, 18, 24, 25, 34, 35, 44, 45, 49, 50, 55, 56, 73), start=1)
)
RATINGS = "".join(f"{user}\t{movie}\t3\t88{user}\n" for user, movie in ((1, 3), (14, 1), (2, 2)))


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(entries: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def taped(entries: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


MOVIES = {"ml-100k/u.user": USERS, "ml-100k/u.data": RATINGS, "ml-100k/README": "made up"}


def movies_archive(content: bytes, url: str = "http://127.0.0.1:9/ml-100k.zip") -> Archive:
    manifest = {"u.user": sha(USERS.encode()), "u.data": sha(RATINGS.encode())}
    return Archive("ml-100k", "ml-100k.zip", url, sha(content), manifest)


class Host:
    """Stands in for a publisher's host: sends ``content``, or only ``sent`` bytes of it."""

    def __init__(self) -> None:
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.asked += 1
                self.send_response(host.status)
                self.send_header("Content-Length", str(len(host.content)))
                self.end_headers()
                self.wfile.write(host.content[: host.sent])

            def log_message(self, *args) -> None:
                pass

        self.content, self.sent, self.status, self.asked = b"", None, 200, 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/ml-100k.zip"


@pytest.fixture
def host(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    made = Host()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def everything_under(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def check(graph, name):
    nodes, links, sizes = PAPER[name]
    assert (graph.num_nodes, graph.num_links) == (nodes, links)
    assert [int((graph.group == g).sum()) for g in range(graph.num_groups)] == sizes
    assert len(graph.names) == nodes
    card = DATASETS[name].card
    assert (card.nodes, card.links, [*card.groups.values()]) == PAPER[name]
    assert graph.attribute == card.attribute
    assert graph.bipartite == card.bipartite


@pytest.mark.parametrize("name", ["polblogs", "polbooks", "jobs"])
def test_carried_graphs_have_the_published_counts(name, tmp_path):
    check(load(name, tmp_path), name)
    assert on_disk(name, tmp_path)


def test_names_are_those_of_the_publishers():
    blogs = load("polblogs")
    at = blogs.names.index("dailykos.com")
    assert blogs.group_names[int(blogs.group[at])] == "left"
    books = load("polbooks")
    assert books.names[0] == "1000 Years for Revenge"
    assert books.group_names[int(books.group[0])] == "neutral"


@pytest.fixture
def real_data():
    root = os.environ.get("LINKPARITY_DATA")
    if not root:
        pytest.skip("LINKPARITY_DATA does not say where the data sets lie")
    return Path(root)


@pytest.mark.data
@pytest.mark.parametrize("name", ["ml100k", "facebook"])
def test_downloaded_graphs_have_the_published_counts(name, real_data):
    if not on_disk(name, real_data):
        pytest.skip(f"LINKPARITY_DATA holds no {name}")
    check(load(name, real_data), name)


@pytest.mark.data
def test_movies_have_no_group_and_stand_on_the_other_side(real_data):
    graph = load("ml100k", real_data)
    assert graph.side.tolist() == [0] * 943 + [1] * 1682
    assert (graph.group[943:] == -1).all()


@pytest.mark.data
def test_facebook_files_serve_as_well_as_their_archive(real_data, tmp_path):
    whole = load("facebook", real_data)
    with tarfile.open(real_data / "facebook" / "facebook.tar.gz") as archive:
        archive.extractall(tmp_path / "facebook", filter="data")
    loose = load("facebook", tmp_path)
    assert loose.links.equal(whole.links)
    assert loose.names == whole.names


@pytest.mark.data
def test_carried_blogs_are_those_of_the_official_file(real_data):
    path = real_data / "polblogs" / "polblogs.gml"
    if not path.exists():
        pytest.skip("LINKPARITY_DATA holds no polblogs/polblogs.gml")
    text = path.read_text()
    labels = dict(re.findall(r'id (\d+)\s+label "(.*?)"', text))
    party = dict(re.findall(r'id (\d+)\s+label ".*?"\s+value (\d)', text))
    pairs = re.findall(r"source (\d+)\s+target (\d+)", text)
    graph = load("polblogs")
    kept = set(graph.names)
    official = {frozenset((labels[a], labels[b])) for a, b in pairs if a != b}
    official = {link for link in official if link <= kept}
    assert {frozenset(graph.names[n] for n in link) for link in graph.links.tolist()} == official
    told = {labels[node]: int(value) for node, value in party.items() if labels[node] in kept}
    assert told == dict(zip(graph.names, graph.group.tolist(), strict=True))


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_every_card_says_everything(dataset):
    card = dataset.card
    assert DATASETS[card.name] is dataset
    for text in (card.title, card.attribute, card.terms, card.citation, card.harms):
        assert len(text) > 2
    root = Path(__file__).parents[2]
    assert card.source.startswith("https://") or (root / card.source).is_file()
    if dataset.archive:
        assert re.fullmatch("[0-9a-f]{64}", dataset.archive.sha256)
        assert all(re.fullmatch("[0-9a-f]{64}", d) for d in dataset.archive.manifest.values())


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownName, match="unknown data set 'polblog'; did you mean 'polblogs'"):
        load("polblog")


def test_counts_other_than_the_card_s_are_refused():
    wrong = replace(DATASETS["polbooks"], card=replace(DATASETS["polbooks"].card, links=440))
    with pytest.raises(RuntimeError, match="polbooks should have 105 nodes, 440 links"):
        wrong.load()


def test_the_data_directory_is_told_else_the_variable_else_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKPARITY_DATA", str(tmp_path / "variable"))
    assert data_directory(tmp_path / "told") == tmp_path / "told"
    assert data_directory() == tmp_path / "variable"
    monkeypatch.delenv("LINKPARITY_DATA")
    assert data_directory().name == "linkparity"


def test_a_download_is_read_binned_and_kept(host, tmp_path, monkeypatch, capsys):
    host.content = zipped(MOVIES)
    monkeypatch.setattr(ml100k, "ARCHIVE", movies_archive(host.content, host.url))
    graph = ml100k.read(tmp_path)
    assert graph.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, -1, -1, -1]
    told = {(graph.names[a], graph.names[b]) for a, b in graph.links.tolist()}
    assert told == {(1, 3), (14, 1), (2, 2)}
    assert everything_under(tmp_path) == ["ml-100k/ml-100k.zip"]
    assert capsys.readouterr().out == ""
    ml100k.read(tmp_path)
    assert host.asked == 1


def test_a_corrupted_download_is_thrown_away(host, tmp_path):
    good = zipped(MOVIES)
    archive = movies_archive(good, host.url)
    host.content = good[:100] + bytes([good[100] ^ 1]) + good[101:]
    with pytest.raises(DataError, match=r"not send the published file \(its sha256 differs\); try"):
        read_files(archive, tmp_path)
    assert everything_under(tmp_path) == []
    host.content = good
    assert read_files(archive, tmp_path)["u.user"].decode() == USERS


@pytest.mark.parametrize("sent", [0, 1, 300])
def test_a_server_that_dies_half_way_leaves_nothing_behind(host, tmp_path, sent):
    host.content = zipped(MOVIES)
    host.sent = sent
    archive = movies_archive(host.content, host.url)
    with pytest.raises(DataError) as error:
        read_files(archive, tmp_path)
    assert f"put ml-100k.zip from {host.url} into {tmp_path / 'ml-100k'}" in str(error.value)
    assert "\n" not in str(error.value)
    assert everything_under(tmp_path) == []
    host.sent = None
    assert read_files(archive, tmp_path)["u.data"].decode() == RATINGS


def test_an_error_page_is_no_data(host, tmp_path):
    host.content, host.status = b"gone", 404
    with pytest.raises(DataError, match=r"could not download ml-100k.zip \(HTTPError\); put ml-1"):
        read_files(movies_archive(b"", host.url), tmp_path)
    assert everything_under(tmp_path) == []


def test_without_a_network_one_sentence_says_which_file_goes_where(host, tmp_path, capsys, caplog):
    host.server.shutdown()
    host.server.server_close()
    with pytest.raises(DataError) as error:
        read_files(movies_archive(b"", host.url), tmp_path)
    assert str(error.value) == (
        f"load: could not download ml-100k.zip (ConnectionError); put ml-100k.zip from {host.url} "
        f"into {tmp_path / 'ml-100k'}"
    )
    assert error.value.__suppress_context__
    assert capsys.readouterr() == ("", "")
    assert caplog.records == []


def test_a_directory_that_cannot_be_written_is_named(host, tmp_path):
    (tmp_path / "ml-100k").write_text("a file where the folder should be")
    host.content = zipped(MOVIES)
    with pytest.raises(DataError, match=r"cannot write to .*set LINKPARITY_DATA to a directory"):
        read_files(movies_archive(host.content, host.url), tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "ml-100k.zip").write_bytes(zipped(MOVIES))
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(
        DataError, match=r"cannot read .*ml-100k.zip \(Permission denied\); make it"
    ):
        read_files(movies_archive(b""), tmp_path)


def test_a_directory_that_is_read_only_is_named(host, tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(DataError, match=r"cannot write to .*\(Permission denied\); set LINK") as e:
        read_files(movies_archive(b"", host.url), tmp_path)
    assert "\n" not in str(e.value)


def test_only_files_that_are_read_are_asked_for():
    assert set(ml100k.ARCHIVE.manifest) == {"u.user", "u.data"}


@pytest.mark.parametrize("place", ["ml-100k/ml-100k.zip", "ml-100k.zip"])
def test_an_archive_that_lies_there_is_used(place, tmp_path):
    content = zipped(MOVIES)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(content)
    assert read_files(movies_archive(content), tmp_path)["u.user"].decode() == USERS


@pytest.mark.parametrize("folder", ["ml-100k", "ml-100k/ml-100k"])
def test_files_that_lie_there_are_used_and_checked(folder, tmp_path):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "u.user").write_text(USERS)
    (tmp_path / folder / "u.data").write_text(RATINGS)
    archive = movies_archive(b"never asked for")
    assert read_files(archive, tmp_path)["u.data"].decode() == RATINGS
    (tmp_path / folder / "u.data").write_text(RATINGS[:-9])
    with pytest.raises(DataError, match=r"u.data is not the published file \(sha256 .*delete it"):
        read_files(archive, tmp_path)


@pytest.mark.parametrize("pack", [zipped, taped])
def test_an_archive_in_either_format_is_read(pack, tmp_path):
    content = pack(MOVIES)
    (tmp_path / "ml-100k.zip").write_bytes(content)
    files = read_files(movies_archive(content), tmp_path)
    assert {name: text.decode() for name, text in files.items()} == {
        "u.user": USERS,
        "u.data": RATINGS,
    }


@pytest.mark.parametrize(
    "content",
    [
        zipped(MOVIES)[:-40],
        zipped(MOVIES | {"../escaped": "x"}),
        zipped(MOVIES | {"/escaped": "x"}),
        taped(MOVIES | {"../escaped": "x"}),
        b"",
    ],
)
def test_another_archive_than_the_published_one_is_refused_unopened(content, tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("the archive was opened")

    monkeypatch.setattr(zipfile, "ZipFile", refuse)
    monkeypatch.setattr(zipfile, "is_zipfile", refuse)
    monkeypatch.setattr(tarfile, "open", refuse)
    (tmp_path / "ml-100k.zip").write_bytes(content)
    with pytest.raises(DataError, match=r"ml-100k.zip is not the published file"):
        read_files(movies_archive(b"the published one"), tmp_path)
    assert everything_under(tmp_path) == ["ml-100k.zip"]


def test_genders_are_found_in_each_network_s_own_columns(tmp_path, monkeypatch):
    first, second = facebook.FEATURES
    entries = {
        "0.featnames": f"0 birthday;x\n1 {first}\n2 {second}\n",
        "0.egofeat": "0 1 0\n",
        "0.feat": "1 1 0 1\n2 0 1 1\n9 1 1 0\n",
        "0.edges": "1 9\n9 1\n1 2\n",
        "9.featnames": f"0 {first}\n1 {second}\n2 birthday;x\n",
        "9.egofeat": "1 0 0\n",
        "9.feat": "3 0 1 0\n4 0 0 1\n1 0 1 0\n",
        "9.edges": "3 1\n",
    }
    content = taped({f"facebook/{name}": text for name, text in entries.items()})
    manifest = {name: sha(text.encode()) for name, text in entries.items()}
    archive = replace(facebook.ARCHIVE, sha256=sha(content), manifest=manifest)
    monkeypatch.setattr(facebook, "ARCHIVE", archive)
    (tmp_path / "facebook.tar.gz").write_bytes(content)
    graph = facebook.read(tmp_path)
    assert graph.names == (0, 1, 3, 9)
    assert graph.group.tolist() == [0, 1, 1, 0]
    told = {tuple(graph.names[n] for n in link) for link in graph.links.tolist()}
    assert told == {(0, 1), (0, 9), (1, 9), (3, 9), (1, 3)}


def test_true_means_of_a_block_model_agree_with_a_loop_over_pairs():
    graph = block_model(sizes=(40, 35, 3), degree=6, homophily=3, spread=0.9, seed=4)
    truth = graph.truth
    total, squares, count = torch.zeros(3, 3, 3).double()
    for a, b in combinations(range(graph.num_nodes), 2):
        g, h = sorted((int(graph.group[a]), int(graph.group[b])))
        rate = truth.strength[a] * truth.strength[b] * truth.rate[g, h]
        total[g, h] += 1 - torch.exp(-rate)
        count[g, h] += 1
        squares[g, h] += (1 - torch.exp(-rate)) ** 2
    upper = torch.triu_indices(3, 3)
    mean = (total / count)[upper[0], upper[1]]
    assert truth.means()[upper[0], upper[1]].tolist() == pytest.approx(mean.tolist())
    assert truth.dp == pytest.approx(float(mean.max() - mean.min()))
    over_links = (squares / total)[upper[0], upper[1]]
    assert truth.link_means()[upper[0], upper[1]].tolist() == pytest.approx(over_links.tolist())
    assert truth.eo == pytest.approx(float(over_links.max() - over_links.min()))
    assert math.isnan(block_model(sizes=(40,), degree=4).truth.dp)
    pairs = torch.tensor([[0, 1], [5, 77]])
    assert truth.logits(pairs).sigmoid().tolist() == pytest.approx(
        truth.probability(pairs).tolist()
    )


def test_drawn_links_are_as_frequent_as_their_probabilities():
    drawn = [block_model((30, 20, 10), degree=8, spread=0.7, seed=s) for s in range(200)]
    seen, expected = torch.zeros(3, 3), drawn[0].truth.means().float()
    pairs = torch.tensor(list(combinations(range(60), 2)))
    hits, chance, spread = 0.0, 0.0, 0.0
    for graph in drawn:
        links = graph.is_link(pairs).double()
        prob = graph.truth.probability(pairs)
        strong = prob > prob.median()
        hits += float((links - prob)[strong].sum())
        spread += float((prob * (1 - prob))[strong].sum())
        chance += float(prob.sum())
        group = graph.group[graph.links].sort(dim=1).values
        seen.index_put_((group[:, 0], group[:, 1]), torch.ones(len(group)), accumulate=True)
    assert abs(hits) < 4 * spread**0.5
    assert chance / len(drawn) == pytest.approx(60 * 8 / 2)
    sizes = torch.tensor([[435.0, 600, 300], [1, 190, 200], [1, 1, 45]])
    rate = seen / sizes / len(drawn)
    for g, h in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        error = (expected[g, h] / sizes[g, h] / len(drawn)) ** 0.5
        assert float(rate[g, h]) == pytest.approx(float(expected[g, h]), abs=4 * float(error))


def test_a_seed_draws_one_graph_and_homophily_one_is_parity():
    one, two, other = (block_model(seed=s) for s in (1, 1, 2))
    assert one.links.equal(two.links)
    assert not (one.num_links == other.num_links and one.links.equal(other.links))
    assert block_model((50, 40, 30), homophily=1, spread=0).truth.dp == 0
    within = block_model((50, 40, 30), homophily=0)
    assert (within.group[within.links[:, 0]] != within.group[within.links[:, 1]]).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sizes": (3, 0, 2)}, r"positive number per group .* got \(3, 0, 2\)"),
        ({"sizes": 5}, "one positive number per group and sum to at least 2, got 5"),
        ({"sizes": (2.5, 3, 3)}, "one positive number per group"),
        ({"sizes": ()}, "one positive number per group"),
        ({"degree": 0}, "degree must be positive and finite, got 0"),
        (
            {"sizes": (3, 2, 2), "degree": 6},
            "degree must be below 6 for groups of these sizes, got 6",
        ),
        ({"homophily": -1}, "homophily must be finite and at least 0, got -1"),
        ({"spread": float("inf")}, "spread must be finite and at least 0, got inf"),
    ],
)
def test_impossible_block_models_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        block_model(**given)
