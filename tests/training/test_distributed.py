"""Two processes divide the pairs and find what one finds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from planted import make, planted, planted_bipartite

from linkparity import train

CASES = [
    ("cne", "dp", "blocks", "sampled"),
    ("cne", "dp", "blocks", "candidates"),
    ("cne", "dp", "samples", "candidates"),
    ("cne", "eo", "samples", "sampled"),
    ("dot-product", "equalized-odds", "blocks", "sampled"),
    ("dot-product", "equalized-odds", "samples", "all"),
    ("gae", "dp", "samples", "all"),
    ("gae", None, "blocks", "sampled"),
    ("maxent", "dp", None, "all"),
]
EPOCHS = 6


def run(build, name, criterion, method, pairs):
    graph = build()
    model = make(name, graph)
    generator = torch.Generator().manual_seed(7)
    rows = list(
        train(
            model, graph, criterion, 10.0, epochs=EPOCHS, method=method, pairs=pairs,
            generator=generator,
        )
    )  # fmt: skip
    numbers = np.concatenate([p.detach().double().numpy().reshape(-1) for p in model.parameters()])
    return [list(row)[1:5] for row in rows], numbers.tolist()


def everything():
    graphs = {"planted": planted, "bipartite": planted_bipartite}
    return {
        f"{kind} {name} {criterion} {method} {pairs}": run(build, name, criterion, method, pairs)
        for kind, build in graphs.items()
        for name, criterion, method, pairs in CASES
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each of two processes found."""
    folder = tmp_path_factory.mktemp("two")
    command = [sys.executable, __file__, str(folder)]
    helpers = Path(__file__).parents[1] / "helpers"
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(helpers), os.environ.get("PYTHONPATH", "")])
    }
    pair = [subprocess.Popen([*command, str(rank)], env=env) for rank in (0, 1)]
    assert [process.wait(timeout=120) for process in pair] == [0, 0]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_two_processes_equal_one(found):
    for name, (rows, numbers) in everything().items():
        for got_rows, got in (each[name] for each in found):
            assert np.allclose(got_rows, rows, rtol=1e-5, atol=1e-5, equal_nan=True), name
            assert np.allclose(got, numbers, rtol=1e-4, atol=1e-4), name


def test_both_processes_hold_one_model(found):
    for name, (_, numbers) in found[0].items():
        assert found[1][name][1] == numbers, name


def main(folder: Path, rank: int) -> None:
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / "store"), 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    (folder / f"{rank}.json").write_text(json.dumps(everything()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
