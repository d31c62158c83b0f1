import errno
import hashlib
import json
import multiprocessing
import os
import random
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from planted import all_index, planted, planted_bipartite, suited
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from saving_jobs import save_forever, save_together

from linkparity import Graph, LinkModel, LinkPredictor
from linkparity.criteria.eo import EqualOpportunity
from linkparity.datasets import load
from linkparity.experiments.train import train_run
from linkparity.models import MODELS
from linkparity.models.prediction.postprocess import Tilts
from linkparity.models.prediction.saving import TENSORS as TENSORS_NAME
from linkparity.models.prediction.saving import check_place, save_predictor
from linkparity.models.training.objective import Epoch
from linkparity.support.errors import InputError
from linkparity.support.files import PREFIX

#: Nodes without a link to some group are nothing unusual in small graphs.
pytestmark = pytest.mark.filterwarnings("ignore:debayes:linkparity.GraphWarning")

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["linkparity.experiments.train", "linkparity.datasets"])


class Own(LinkModel):
    """A decoder that is no inner product."""

    epochs = 5

    def __init__(self, graph, dimension=3, *, generator, scale=1.0):
        super().__init__()
        self.z = torch.nn.Parameter(torch.randn(graph.num_nodes, dimension, generator=generator))
        self.scale = scale

    def forward(self, index):
        return -self.scale * (self.z[index[:, 0]] - self.z[index[:, 1]]).abs().sum(dim=1)


def quick(model="cne", **params):
    return LinkPredictor(model, epochs=8, **params)


def tensors_of(run):
    return run / json.loads((run / "model.json").read_text())["tensors"]


def is_run(names):
    """Whether a directory's names are those of one run, without anything left over."""
    return len(names) == 2 and "model.json" in names and sum(".safetensors" in n for n in names)


def test_saving_twice_replaces_and_spares_what_is_not_ours(tmp_path):
    predictor = LinkPredictor("maxent").fit(planted())
    predictor.save(tmp_path / "run")
    other = LinkPredictor("maxent", criterion="dp").fit(planted())
    other.save(tmp_path / "run")
    assert LinkPredictor.load(tmp_path / "run").criterion == "dp"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("dear")
    with pytest.raises(InputError, match="holds no saved predictor, so it is left alone"):
        predictor.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "letter").read_text() == "dear"


def test_a_save_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    predictor = LinkPredictor("maxent").fit(planted())
    predictor.save(tmp_path / "run")
    monkeypatch.setattr("os.fsync", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        predictor.save(tmp_path / "run")
    monkeypatch.undo()
    LinkPredictor.load(tmp_path / "run")
    assert len(list((tmp_path / "run").iterdir())) == 2


def damage_tensors(run):
    data = bytearray(tensors_of(run).read_bytes())
    data[-5] ^= 1
    tensors_of(run).write_bytes(bytes(data))


def newer(run):
    about = json.loads((run / "model.json").read_text())
    (run / "model.json").write_text(json.dumps({**about, "format": 99, "linkparity": "9.0"}))


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (damage_tensors, "is damaged, its sha256 is not the one in model.json"),
        (newer, r"written by linkparity 9.0 in format 99, .* up to 2; upgrade linkparity"),
        (lambda run: (run / "model.json").write_text("{"), "model.json: is damaged"),
        (lambda run: (run / "model.json").write_text("[]"), "model.json: is damaged"),
        (lambda run: (run / "model.json").write_text('{"format": 1}'), "is damaged"),
        (lambda run: tensors_of(run).unlink(), r"holds no model-.*\.safetensors"),
        (lambda run: (run / "model.json").unlink(), "holds no model.json; give the directory"),
    ],
)
def test_a_damaged_or_newer_file_is_refused(harm, said, tmp_path):
    LinkPredictor("maxent").fit(planted()).save(tmp_path / "run")
    harm(tmp_path / "run")
    with pytest.raises(InputError, match=said):
        LinkPredictor.load(tmp_path / "run")


def test_saving_leaves_other_files_alone(tmp_path):
    predictor = LinkPredictor("maxent").fit(load("polbooks"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model.json").write_text("{}")
    (mine / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="left alone"):
        predictor.save(mine)
    run = tmp_path / "run"
    predictor.save(run)
    (run / "notes.txt").write_text("x")
    predictor.save(run)
    assert is_run({p.name for p in run.iterdir()} - {"notes.txt"})
    assert (run / "notes.txt").read_text() == "x"


def test_text_that_lacks_a_part_is_refused_with_a_sentence(tmp_path):
    LinkPredictor("maxent").fit(load("polbooks")).save(tmp_path / "run")
    text = json.loads((tmp_path / "run" / "model.json").read_text())
    for part in ("params", "graph", "history", "fit_seconds"):
        less = {key: value for key, value in text.items() if key != part}
        (tmp_path / "run" / "model.json").write_text(json.dumps(less))
        with pytest.raises(ValueError, match="damaged or was changed"):
            LinkPredictor.load(tmp_path / "run")


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about["params"].update(model=None),
        lambda about: about["params"].update(model=[1]),
        lambda about: about["graph"].update(num_nodes=-1),
        lambda about: about["graph"].update(group_names=3),
        lambda about: about.update(format=float("inf")),
    ],
)
def test_changed_text_is_refused_with_the_path(change, tmp_path):
    LinkPredictor("maxent").fit(planted()).save(tmp_path / "run")
    about = json.loads((tmp_path / "run" / "model.json").read_text())
    change(about)
    (tmp_path / "run" / "model.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=r"run.*is damaged"):
        LinkPredictor.load(tmp_path / "run")


def test_a_model_json_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "model.json").write_text('{"format": "layers-model", "modelTopology": {}}')
    with pytest.raises(InputError, match="left alone"):
        LinkPredictor("maxent").fit(planted()).save(tmp_path)


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, monkeypatch):
    predictor = LinkPredictor("maxent").fit(planted())

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"run: was not saved \(No space left on device\)"):
        predictor.save(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_a_killed_save_left_is_no_obstacle(tmp_path):
    predictor = LinkPredictor("maxent").fit(planted())
    place = tmp_path / "run"
    predictor.save(place)
    (place / "model.json").rename(place / f"{PREFIX}0")  # killed right before this was renamed
    left = {name: (place / name).read_bytes() for name in os.listdir(place)}
    save_predictor(predictor, place, replace=False)
    assert {name: (place / name).read_bytes() for name in left} == left
    assert is_run(set(os.listdir(place)) - set(left))
    pairs = [[0, 1], [2, 5]]
    assert np.allclose(
        LinkPredictor.load(place).predict_proba(pairs), predictor.predict_proba(pairs)
    )


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in eight epochs
@pytest.mark.parametrize("make", [planted, planted_bipartite])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_saved_and_loaded_it_is_the_same(name, make, tmp_path):
    graph = suited(name, make())
    criterion = "eo" if name == "dot-product" else "dp"
    post = {"criterion": criterion, "postprocess": "i-projection"}
    predictor = quick(name, seed=3, **post).fit(graph)
    predictor.save(tmp_path / "deep" / "run")
    loaded = LinkPredictor.load(tmp_path / "deep" / "run")
    assert loaded.get_params() == predictor.get_params()
    index = all_index(graph)
    assert np.array_equal(loaded.predict_logits(index), predictor.predict_logits(index))
    for one, two in zip(loaded.top(3), predictor.top(3), strict=True):
        assert np.array_equal(one, two)
    assert loaded.history_ == predictor.history_
    assert loaded.graph_.group_names == graph.group_names
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["run"]


def test_names_and_options_are_saved_too(tmp_path):
    graph = planted()
    names = tuple(f"node {i}" for i in range(graph.num_nodes))
    graph = Graph(graph.num_nodes, graph.links, graph.group, names=names, attribute="colour")
    features = torch.randn(graph.num_nodes, 4, generator=torch.Generator().manual_seed(0))
    predictor = quick("gae", options={"features": features, "hidden": 5}).fit(graph)
    predictor.save(tmp_path / "run")
    loaded = LinkPredictor.load(tmp_path / "run")
    assert (loaded.graph_.names, loaded.graph_.attribute) == (names, "colour")
    index = all_index(graph)
    assert np.array_equal(loaded.predict_logits(index), predictor.predict_logits(index))
    odd = Graph(graph.num_nodes, graph.links, graph.group, names=[(i,) for i in range(len(names))])
    with pytest.raises(ValueError, match=r"node names must be text or whole numbers .* got \(0,\)"):
        LinkPredictor("maxent").fit(odd).save(tmp_path / "other")


def test_a_model_of_ones_own_is_loaded_with_its_class(tmp_path):
    graph = planted()
    predictor = LinkPredictor(Own, criterion="eo", options={"scale": 0.5}).fit(graph)
    predictor.save(tmp_path / "run")
    with pytest.raises(ValueError, match=r"with a model of your own, .*Own; pass its class"):
        LinkPredictor.load(tmp_path / "run")
    loaded = LinkPredictor.load(tmp_path / "run", model=Own)
    index = all_index(graph)
    assert np.array_equal(loaded.predict_logits(index), predictor.predict_logits(index))


def test_targets_and_names_come_back_as_they_were(tmp_path):
    graph = planted()
    names = np.arange(graph.num_nodes) + 10
    graph = Graph(graph.num_nodes, graph.links, graph.group, names=names)
    predictor = quick("cne", criterion="equalized-odds", target={0: 0.1, 1: 0.7}).fit(graph)
    predictor.save(tmp_path / "run")
    loaded = LinkPredictor.load(tmp_path / "run")
    assert loaded.target == {0: 0.1, 1: 0.7}
    assert loaded.graph_.names == tuple(names.tolist())
    assert loaded.fit(graph).history_[-1][1:5] == predictor.history_[-1][1:5]
    array = quick("cne", criterion="equalized-odds", target=np.array([0.1, 0.7])).fit(graph)
    assert "target=array([0.1, 0.7])" in repr(array)
    array.save(tmp_path / "array")
    assert LinkPredictor.load(tmp_path / "array").target == [0.1, 0.7]


def test_a_run_that_version_0_1_wrote_is_read_and_written_again(tmp_path):
    run = Path(__file__).parent / "version-0.1"
    predictor = LinkPredictor.load(run)
    logits = predictor.predict_logits([[0, 1], [2, 5], [7, 3]])
    assert np.allclose(logits, [-1.45218681, 1.12829463, -8.49463007], rtol=0, atol=1e-8)
    assert predictor.graph_.names[:2] == ("n0", "n1")
    predictor.save(tmp_path / "run")
    old, new = (json.loads((each / "model.json").read_text()) for each in (run, tmp_path / "run"))
    for one in (old, new):
        del one["tensors"], one["sha256"]
    assert new == old
    before, after = (
        load_tensors(tensors_of(each).read_bytes()) for each in (run, tmp_path / "run")
    )
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_run_of_format_1_is_read_and_replaced_whole(tmp_path):
    run = tmp_path / "run"
    predictor = quick().fit(planted())
    predictor.save(run)
    tensors_of(run).rename(run / "model.safetensors")
    about = json.loads((run / "model.json").read_text())
    del about["tensors"]
    (run / "model.json").write_text(json.dumps(about | {"format": 1}))
    index = all_index(planted())
    logits = LinkPredictor.load(run).predict_logits(index)
    assert np.array_equal(logits, predictor.predict_logits(index))
    predictor.save(run)
    assert is_run(os.listdir(run))
    assert not (run / "model.safetensors").exists()


def test_only_own_files_are_removed(tmp_path):
    run = tmp_path / "run"
    predictor = LinkPredictor("maxent").fit(planted())
    predictor.save(run)
    theirs = {
        "model-0123456789abcdef.safetensors": save_tensors({"x": torch.ones(2)}),
        "model.safetensors": b"theirs",
        "copy.safetensors": tensors_of(run).read_bytes(),
        "model-0123456789abcdee.safetensors": tensors_of(run).read_bytes(),
        ".model.json-abc": b"theirs",
        f"{PREFIX}theirs": b"theirs",
    }
    for name, content in theirs.items():
        (run / name).write_bytes(content)
    predictor.save(run)
    assert {name: (run / name).read_bytes() for name in theirs} == theirs
    assert is_run(set(os.listdir(run)) - set(theirs))
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "model.safetensors").write_bytes(b"theirs")
    with pytest.raises(InputError, match="left alone"):
        predictor.save(alone)
    assert os.listdir(alone) == ["model.safetensors"]


def test_a_manifest_cannot_name_a_file_elsewhere(tmp_path):
    run, mine = tmp_path / "run", tmp_path / "mine.safetensors"
    predictor = LinkPredictor("maxent").fit(planted())
    predictor.save(run)
    mine.write_bytes(tensors_of(run).read_bytes())
    about = json.loads((run / "model.json").read_text())
    (run / "model.json").write_text(json.dumps(about | {"tensors": "../mine.safetensors"}))
    with pytest.raises(InputError, match=r"model.json: is damaged .*mine.safetensors"):
        LinkPredictor.load(run)
    predictor.save(run)
    assert mine.exists()


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027])
def test_saved_files_respect_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        LinkPredictor("maxent").fit(planted()).save(tmp_path / "run")
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "run").iterdir()}
    assert modes == {0o666 & ~mask}
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o777 & ~mask


def test_a_run_that_appears_during_training_is_not_replaced(tmp_path):
    run = tmp_path / "run"
    other = LinkPredictor("maxent", criterion="dp").fit(planted())

    def meanwhile(row):
        if row.epoch == 2:
            other.save(run)

    with pytest.raises(InputError, match="run: exists already"):
        train_run(planted(), quick(), run, replace=False, on_epoch=meanwhile)
    assert LinkPredictor.load(run).criterion == "dp"
    train_run(planted(), quick(), run, on_epoch=meanwhile)
    assert LinkPredictor.load(run).criterion is None


@pytest.mark.parametrize("case", ["new", "old", "first"])
def test_two_processes_save_to_one_directory(tmp_path, case):
    """120 directories: a whole run is there in the end, whoever came last."""
    places = [tmp_path / str(i) for i in range(40)]
    if case == "old":
        for place in places:
            LinkPredictor("maxent").fit(planted()).save(place)
            (place / "notes.txt").write_text("x")
    barrier, said = PROCESSES.Barrier(2), PROCESSES.Queue()
    jobs = [
        PROCESSES.Process(target=save_together, args=(criterion, places, case, barrier, said))
        for criterion in ("dp", "weak-dp")
    ]
    for job in jobs:
        job.start()
    ended = sorted(said.get(timeout=60) for _ in jobs)
    for job in jobs:
        job.join()
    refused = [errors for _, errors in ended]
    assert [set(errors) - {"exists already"} for errors in refused] == [set(), set()]
    assert sum(map(len, refused)) == (len(places) if case == "first" else 0)
    for place in places:
        assert LinkPredictor.load(place).criterion in ("dp", "weak-dp")
        left = set(os.listdir(place)) - {"notes.txt", tensors_of(place).name, "model.json"}
        assert all(TENSORS_NAME.fullmatch(name) for name in left)  # of whoever was overtaken
        assert (place / "notes.txt").exists() == (case == "old")


@pytest.mark.slow
def test_a_killed_save_leaves_the_old_run_or_the_new_one(tmp_path):
    run = tmp_path / "run"
    clock = random.Random(0)
    final = LinkPredictor("maxent").fit(planted())
    for trial in range(20):
        ready = PROCESSES.Event()
        job = PROCESSES.Process(target=save_forever, args=(run, ready))
        job.start()
        assert ready.wait(60)
        time.sleep(clock.uniform(0, 0.02))
        job.kill()
        job.join()
        if trial:
            assert LinkPredictor.load(run).criterion in ("dp", "weak-dp", None)
        final.save(run)
        assert LinkPredictor.load(run).criterion is None


def change_tensors(run, change):
    """Change the tensors of a run so that only a look at them can tell."""
    file = tensors_of(run)
    tensors = load_tensors(file.read_bytes())
    change(tensors)
    data = save_tensors(tensors)
    file.write_bytes(data)
    about = json.loads((run / "model.json").read_text())
    about["sha256"] = hashlib.sha256(data).hexdigest()
    (run / "model.json").write_text(json.dumps(about))


def put(name, made):
    def change(tensors):
        tensors[name] = made(tensors[name]) if callable(made) else made

    return change


TENSORS = {
    "model of another shape": put("model.z", lambda z: z[:, :3].contiguous()),
    "model of another type": put("model.z", lambda z: z.double()),
    "model of whole numbers": put("model.z", lambda z: z.long()),
    "complex model": put("model.z", lambda z: z.to(torch.complex64)),
    "nan": put("model.z", lambda z: z * float("nan")),
    "infinite": put("model.prior", lambda a: a + float("inf")),
    "no links": lambda tensors: tensors.pop("graph.links"),
    "links of another shape": put("graph.links", lambda links: links.reshape(-1)),
    "links as floats": put("graph.links", lambda links: links.double()),
    "links of other nodes": put("graph.links", lambda links: links + 10**12),
    "negative links": put("graph.links", lambda links: -links),
    "groups of another length": put("graph.group", lambda group: group[1:].clone()),
    "groups without a name": put("graph.group", lambda group: group + 10**15),
    "groups below -1": put("graph.group", lambda group: group - 5),
    "sides of something": put("graph.side", torch.full((7,), 9)),
    "held-out links of other nodes": put("graph.held_out", torch.tensor([[0, 10**9]])),
    "held-out floats": put("graph.held_out", torch.ones(3, 2)),
    "tilts of another shape": put("tilts", lambda tilts: tilts[1:].contiguous()),
    "tilts of another type": put("tilts", lambda tilts: tilts.float()),
    "tilts that are not finite": put("tilts", lambda tilts: tilts / 0),
    "tilts that no fit gives": put("tilts", lambda tilts: tilts * 0 + 1e5),
    "another tensor": put("model.other", torch.ones(3)),
    "a scalar": put("model.z", torch.tensor(1.0)),
}


@pytest.fixture(scope="module")
def fitted():
    return quick(criterion="dp", postprocess="i-projection").fit(planted())


@pytest.mark.parametrize("case", TENSORS)
def test_tensors_that_no_run_has_are_refused_with_the_file(case, fitted, tmp_path):
    fitted.save(tmp_path / "run")
    change_tensors(tmp_path / "run", TENSORS[case])
    with pytest.raises(InputError, match=r"run/model\.json: is damaged or was changed") as caught:
        LinkPredictor.load(tmp_path / "run")
    assert "\n" not in str(caught.value)


DEEP = "[" * 100_000 + "]" * 100_000
TEXTS = {
    "nested": lambda text: DEEP,
    "nested inside": lambda text: text.replace('"history": [', f'"history": [{DEEP}, '),
    "not UTF-8": lambda text: b"\xff\xfe" + text.encode(),
    "nan": lambda text: text.replace('"fit_seconds": ', '"fit_seconds": NaN, "x": '),
    "beyond floats": lambda text: text.replace('"fit_seconds": ', '"fit_seconds": 1e999, "x": '),
    "many digits": lambda text: text.replace('"seed": 0', '"seed": ' + "9" * 5000),
    "many nodes": lambda text: text.replace('"num_nodes": ', '"num_nodes": 1000000000000, "x": '),
    "negative nodes": lambda text: text.replace('"num_nodes": ', '"num_nodes": -3, "x": '),
    "large dimension": lambda text: text.replace('"dimension": null', f'"dimension": {10**12}'),
    "large width": lambda text: text.replace('"dimension": null', f'"dimension": {10**7}'),
    "negative dimension": lambda text: text.replace('"dimension": null', '"dimension": -1'),
    "text as dimension": lambda text: text.replace('"dimension": null', '"dimension": "8"'),
    "negative epochs": lambda text: text.replace('"epochs": 8', '"epochs": -8'),
    "text as seed": lambda text: text.replace('"seed": 0', '"seed": "0"'),
    "groups": lambda text: text.replace('"group_names": [', '"group_names": [[1], '),
    "no groups": lambda text: text.replace('"group_names": [', '"group_names": [], "x": ['),
    "history": lambda text: text.replace('"history": [', '"history": ["text", '),
    "numbers as text": lambda text: text.replace('"history": [', '"history": [["1"], '),
    "names": lambda text: text.replace('"names": null', '"names": [1, 2]'),
    "deep names": lambda text: text.replace('"names": null', '"names": [[1]]'),
    "empty": lambda text: "",
    "null": lambda text: "null",
    "text": lambda text: '"format"',
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_that_no_run_has_is_refused_with_the_file(case, fitted, tmp_path):
    fitted.save(tmp_path / "run")
    file = tmp_path / "run" / "model.json"
    changed = TEXTS[case](file.read_text())
    assert changed != file.read_text()
    file.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    with pytest.raises(InputError, match=r"run/model\.json: is damaged") as caught:
        LinkPredictor.load(tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("fit_seconds", -1, "fit_seconds is -1, no number from 0"),
        ("format", -1, "format is -1, no whole number from 1"),
        ("params.target", {}, "target is {}, without a mean"),
        ("params.target", [], r"target is \[\], without a mean"),
        ("history", "", "history is '', no list"),
        ("history", {}, "history is {}, no list"),
        ("history.2", [], r"history\[2\] is \[\], no row"),
        ("history.2.0", None, r"history\[2\].epoch is None, no number from 1"),
        ("history.2.0", 2.5, r"history\[2\].epoch is 2.5, no whole number"),
        ("history.2.1", None, r"history\[2\].loss is None"),
        ("history.2.1", -0.1, r"history\[2\].loss is -0.1, no number from 0"),
        ("history.2.2", -0.1, r"history\[2\].fit is -0.1"),
        ("history.2.3", -0.1, r"history\[2\].kl is -0.1"),
        ("history.2.4", -0.1, r"history\[2\].gap is -0.1"),
        ("history.2.5", None, r"history\[2\].seconds is None"),
        ("history.2.5", -3, r"history\[2\].seconds is -3"),
        ("history.2.5", 1e30, r"history\[2\].seconds is 1e\+30, no number from 0 to 1e\+09"),
    ],
)
@pytest.mark.parametrize("criterion", ["dp", None])
def test_values_that_no_run_has_are_refused_with_the_key(criterion, key, value, said, tmp_path):
    quick(criterion=criterion).fit(planted()).save(tmp_path)
    LinkPredictor.load(tmp_path)
    about = json.loads((tmp_path / "model.json").read_text())
    exchange(about, [int(k) if k.isdigit() else k for k in key.split(".")], value)
    (tmp_path / "model.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=rf"model\.json: is damaged or was changed \({said}"):
        LinkPredictor.load(tmp_path)


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_a_model_with_large_logits_keeps_its_tilts(tmp_path):
    graph = planted()
    predictor = quick("dot-product", dimension=2, criterion="dp", postprocess="i-projection")
    predictor.fit(graph)
    with torch.no_grad():
        for parameter in predictor.model_.parameters():
            parameter.mul_(300.0)
    predictor.tilts_ = Tilts(predictor.tilts_.table.sign() * 2500)  # as a run of 0.1 may have
    predictor.save(tmp_path / "run")
    index = all_index(graph)
    logits = LinkPredictor.load(tmp_path / "run").predict_logits(index)
    assert np.array_equal(logits, predictor.predict_logits(index))


def test_the_history_of_a_model_of_ones_own_may_hold_anything(tmp_path):
    class Free(Own):
        def steps(self, graph, objective, settings):
            for row in super().steps(graph, objective, settings):
                yield Epoch(0, -1.0, float("nan"), *row[3:5], float("nan"), extra={"score": -2.0})

    predictor = LinkPredictor(Free).fit(planted())
    predictor.save(tmp_path / "run")
    row = LinkPredictor.load(tmp_path / "run", model=Free).history_[0]
    assert np.isnan(row.fit)
    assert (row.epoch, row.loss, row.extra) == (0, -1.0, {"score": -2.0})


def test_another_output_is_not_the_run_or_a_file_in_it(tmp_path):
    run = tmp_path / "run"
    with pytest.raises(InputError, match="is the directory of the run"):
        check_place(run, beside=str(run))
    LinkPredictor("maxent", epochs=1).fit(planted()).save(run)
    with pytest.raises(InputError, match="or a file in it"):
        check_place(run, beside=str(run / "model.json"))
    check_place(run, beside=str(run / "page.html"))
    check_place(run, beside=str(tmp_path / "page.html"))


def leaves(value, path=()):
    """Every place in JSON that is no dict or filled list, by its path."""
    if not isinstance(value, dict | list) or not value:
        return [path]
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, part in inside for leaf in leaves(part, (*path, key))]


def exchange(value, path, new):
    """Put a value in a place, and return the one that was there."""
    for key in path[:-1]:
        value = value[key]
    old, value[path[-1]] = value[path[-1]], new
    return old


@pytest.mark.parametrize("new", [{"a": 1}, True, 1e308, ["x"]], ids=repr)
def test_no_value_of_the_manifest_can_be_another_one(tmp_path, new):
    graph = planted()
    names = [*range(5), *(f"n{i}" for i in range(5, graph.num_nodes))]
    groups = ("a", "b", "c")[: graph.num_groups]
    graph = Graph(graph.num_nodes, graph.links, graph.group, groups, names=names, attribute="hue")
    run = tmp_path / "run"
    quick("gae", criterion="dp", options={"hidden": 4}, patience=7).fit(graph).save(run)
    about = json.loads((run / "model.json").read_text())
    places = [path for path in leaves(about) if path[0] != "history" or path[1] == 1]
    accepted, said = [], []
    for path in [path for path in places if path[:2] != ("graph", "names") or path[2] == 7]:
        old = exchange(about, path, new)
        (run / "model.json").write_text(json.dumps(about))
        try:
            LinkPredictor.load(run)
            accepted.append(path)
        except InputError as error:
            said.append(str(error))
        exchange(about, path, old)
    assert accepted == ([("graph", "unknown_kept")] if new is True else [])
    assert len(said) > 30
    assert not [text for text in said if "\n" in text or not text.startswith(str(run))]


def test_what_a_class_of_ones_own_raises_is_not_hidden(tmp_path):
    LinkPredictor(Own).fit(planted()).save(tmp_path / "run")

    class Faulty(Own):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            raise RuntimeError("not today")

    class Larger(Own):
        def __init__(self, graph, dimension=3, *, generator):
            super().__init__(graph, 2 * dimension, generator=generator)

    with pytest.raises(RuntimeError, match=r"^not today$"):
        LinkPredictor.load(tmp_path / "run", model=Faulty)
    with pytest.raises(InputError, match=r"run: its tensors do not fit .*Larger .*pass the class"):
        LinkPredictor.load(tmp_path / "run", model=Larger)


@pytest.mark.parametrize("fault", [ValueError, KeyError, RuntimeError])
def test_what_an_override_of_load_state_dict_raises_is_not_hidden(tmp_path, fault):
    LinkPredictor(Own).fit(planted()).save(tmp_path / "run")

    class Refusing(Own):
        def load_state_dict(self, state, *args, **more):
            raise fault("not this one")

    class Strict(Own):
        def __init__(self, graph, dimension=3, *, generator):
            super().__init__(graph, 2 * dimension, generator=generator)

        def load_state_dict(self, state, *args, **more):
            return super().load_state_dict(state, *args, **more)

    class Renamed(Own):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            self.w = self.z
            del self.z

        def load_state_dict(self, state, *args, **more):
            self.w.data = state["z"]

        def forward(self, index):
            return -(self.w[index[:, 0]] - self.w[index[:, 1]]).abs().sum(dim=1)

    with pytest.raises(fault, match="not this one") as caught:
        LinkPredictor.load(tmp_path / "run", model=Refusing)
    assert caught.type is fault
    with pytest.raises(InputError, match=r"run: its tensors do not fit .*Strict"):
        LinkPredictor.load(tmp_path / "run", model=Strict)
    pairs = [[0, 1], [2, 5]]
    same = [LinkPredictor.load(tmp_path / "run", model=kind) for kind in (Own, Renamed)]
    assert np.array_equal(*(each.predict_logits(pairs) for each in same))


@pytest.mark.parametrize("fault", [ValueError, KeyError, RuntimeError])
def test_what_a_models_own_check_of_its_strength_raises_is_not_hidden(tmp_path, fault):
    class Strong(Own):
        strength = 1.0

        def __init__(self, graph, dimension=3, *, generator, strength=1.0):
            super().__init__(graph, dimension, generator=generator, scale=strength)

        @classmethod
        def check_strength(cls, strength):
            """None is wrong."""

    class Faulty(Strong):
        @classmethod
        def check_strength(cls, strength):
            raise fault("not this one")

    LinkPredictor(Strong, strength=2.0).fit(planted()).save(tmp_path)
    with pytest.raises(fault, match="not this one") as caught:
        LinkPredictor.load(tmp_path, model=Faulty)
    assert caught.type is fault
    about = json.loads((tmp_path / "model.json").read_text())
    exchange(about, ["params", "seed"], True)
    (tmp_path / "model.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"model\.json: is damaged or was changed"):
        LinkPredictor.load(tmp_path, model=Strong)


def test_a_criterion_of_another_name_is_refused(tmp_path):
    class Within(EqualOpportunity):
        name = "within"

    graph, runs = planted(), {"own": Within(), "eo": "equal-opportunity", "plain": None}
    for name, criterion in runs.items():
        LinkPredictor("maxent", criterion=criterion).fit(graph).save(tmp_path / name)
    refused = {
        ("own", EqualOpportunity()): "was trained with the criterion 'within', not with 'eo'; pass",
        ("eo", Within()): "eo: was trained with the criterion 'equal-opportunity', not with 'wit",
        ("plain", Within()): "plain: was trained without a criterion, not with 'within'; leave cri",
    }
    for (name, criterion), said in refused.items():
        with pytest.raises(InputError, match=said) as caught:
            LinkPredictor.load(tmp_path / name, criterion=criterion)
        assert "\n" not in str(caught.value)
    assert LinkPredictor.load(tmp_path / "own", criterion=Within()).criterion.name == "within"
    for same in ("eo", EqualOpportunity()):
        loaded = LinkPredictor.load(tmp_path / "eo", criterion=same)
        assert loaded.criterion == "equal-opportunity"


def test_a_criterion_of_ones_own_is_loaded_with_an_instance(tmp_path):
    class Within(EqualOpportunity):
        """Another class than that of the criterion whose name it has."""

    graph = planted()
    predictor = quick(criterion=Within()).fit(graph)
    predictor.save(tmp_path / "run")
    for wrong in (None, "eo", Within):
        with pytest.raises(InputError, match=r"with a criterion of your own, .*Within; pass an in"):
            LinkPredictor.load(tmp_path / "run", criterion=wrong)
    own = Within()
    loaded = LinkPredictor.load(tmp_path / "run", criterion=own)
    assert loaded.criterion is own
    index = all_index(graph)
    assert np.array_equal(loaded.predict_logits(index), predictor.predict_logits(index))
    loaded.save(tmp_path / "again")
    assert LinkPredictor.load(tmp_path / "again", criterion=own).criterion is own
    quick(criterion=EqualOpportunity()).fit(graph).save(tmp_path / "plain")
    assert LinkPredictor.load(tmp_path / "plain").criterion == "eo"
