"""Damaged and odd versions of valid files, each determined by a seed."""

import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from safetensors.torch import load, save
from world import GROUPS, STUDY

from linkparity import LinkPredictor

#: Values to put into a cell of a CSV file.
CELLS = ["", " ", "nan", "inf", "-inf", "1e999", "-1", "2", "0x1", "1,5", '"', '""', '"a', 'a"b',
         "\0", "\r", "\n", "\t", "\ufeff", "é", "💥", "\x1b[31m", "x" * 3000, "NULL", "007",
         "9" * 40, "2026-01-01T00:00:00Z", "[1]", "{}", "true", "0.5", "\u202e",
         "\x9b2J"]  # fmt: skip
#: Texts to put in place of a value in a JSON file.
VALUES = ["null", "true", "0", "-1", "1e999", "-0.0", "NaN", "1" + "0" * 5000, '""', '"x"', "[]",
          "{}", "[[1]]", '{"a": {}}', "[" * 100_000, "[" * 100_000 + "]" * 100_000, '"\\u001b[31m"',
          '"\\ud800"', "0.5", "4294967296", "18446744073709551616", '"red"', '"dp"']  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A file, the command that reads it, and how often it is tried."""

    file: str
    args: tuple[str, ...]
    share: int
    change: Callable[[Path, random.Random], None]


def flip(data: bytearray, rng: random.Random) -> None:
    """Flip a few bits."""
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def cut(data: bytearray, rng: random.Random) -> None:
    """Leave out the end, or a part."""
    start = rng.randrange(len(data))
    del data[start : rng.choice([len(data), start + rng.randint(1, 40)])]


def insert(data: bytearray, rng: random.Random) -> None:
    """Insert bytes that readers trip over."""
    odd = [b"\0", b'"', b"\n", b"\r", b",", b"\xff", b"\xef\xbb\xbf", rng.randbytes(20)]
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice(odd)


def splice(data: bytearray, rng: random.Random) -> None:
    """Copy a part to another place."""
    start, place = rng.randrange(len(data)), rng.randrange(len(data))
    part = data[start : start + rng.randint(1, 200)]
    data[place : place + rng.choice([0, len(part)])] = part


def change_bytes(path: Path, rng: random.Random) -> None:
    """One or more changes that know nothing of the format."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if data:
            rng.choice([flip, cut, insert, splice])(data, rng)
    path.write_bytes(data)


def change_csv(path: Path, rng: random.Random) -> None:
    """Change a cell, a row or the header; or bytes."""
    if rng.random() < 0.4:
        return change_bytes(path, rng)
    lines = path.read_text(encoding="utf-8").split("\n")
    for _ in range(rng.choice([1, 1, 3])):
        row = rng.choice([0, rng.randrange(len(lines)), rng.randrange(len(lines))])
        cells = lines[row].split(",")
        place = rng.randrange(len(cells))
        cells[place : place + rng.choice([0, 1, 1, 1])] = rng.choice([[rng.choice(CELLS)], []])
        lines[row : row + rng.choice([1, 1, 1, 0])] = [",".join(cells)]
    path.write_bytes("\n".join(lines).encode())
    return None


def change_gzip(path: Path, rng: random.Random) -> None:
    """Change the archive, or what is in it."""
    if rng.random() < 0.6:
        return change_bytes(path, rng)
    plain = path.with_suffix("")
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    change_csv(plain, rng)
    ends = [b"", b"", b"\0" * 10, b"tail", gzip.compress(b"more", mtime=0)]
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0) + rng.choice(ends))
    plain.unlink()
    return None


def change_parquet(path: Path, rng: random.Random) -> None:
    """Change bytes, or the type of a column."""
    if rng.random() < 0.7:
        return change_bytes(path, rng)
    table = pq.read_table(path)
    place = rng.randrange(table.num_columns)
    rows, name = table.num_rows, table.column_names[place]
    odd = [
        pa.nulls(rows), pa.array([[1]] * rows), pa.array([{"a": 1}] * rows),
        pa.array([b"\xff\x00"] * rows), pa.array([float("nan")] * rows), pa.array([True] * rows),
        pa.array([0] * rows, pa.timestamp("us", "Europe/Brussels")),
        pa.array([0] * rows, pa.date32()), pa.array([0] * rows, pa.time64("ns")),
        pa.array([0] * rows, pa.duration("s")),
        pa.array(range(rows), pa.uint64()), pa.array(["a"] * rows).dictionary_encode(),
        pa.array([1] * rows, pa.decimal128(38, 10)), pa.array([None] + [0.5] * (rows - 1)),
        pa.array(["\x1b[31m"] * rows), pa.array([0.5] * rows, pa.float16()),
    ]  # fmt: skip
    name = rng.choice([name, name, name.upper(), "", "_lp_x", table.column_names[-1]])
    table = table.set_column(place, name, rng.choice(odd))
    pq.write_table(table, path, compression=rng.choice(["snappy", "gzip", "none"]))
    return None


def change_json(path: Path, rng: random.Random) -> None:
    """Change or remove a value; or bytes."""
    if rng.random() < 0.3:
        return change_bytes(path, rng)
    value = json.loads(path.read_text())
    where, key = value, rng.choice(list(value))
    while isinstance(where[key], dict | list) and where[key] and rng.random() < 0.8:
        where = where[key]
        key = rng.choice(list(where)) if isinstance(where, dict) else rng.randrange(len(where))
    if rng.random() < 0.2:
        del where[key]
    else:
        where[key] = "@HERE@"
    text = json.dumps(value).replace('"@HERE@"', rng.choice(VALUES))
    path.write_bytes(text.encode())
    return None


def change_rows(path: Path, rng: random.Random) -> None:
    """Change one row of an experiment's results; or bytes."""
    if rng.random() < 0.3:
        return change_bytes(path, rng)
    lines = path.read_bytes().splitlines()
    place = rng.randrange(len(lines))
    one = path.with_suffix(".one")
    one.write_bytes(lines[place])
    change_json(one, rng)
    lines[place] = one.read_bytes()
    one.unlink()
    path.write_bytes(b"\n".join(lines))
    return None


def change_toml(path: Path, rng: random.Random) -> None:
    """Replace a value of an experiment; or bytes."""
    if rng.random() < 0.4:
        return change_bytes(path, rng)
    lines = path.read_text().splitlines()
    place = rng.choice([i for i, line in enumerate(lines) if "=" in line])
    lines[place] = f"{lines[place].split('=')[0]}= {rng.choice(VALUES)}"
    path.write_text("\n".join(lines))
    return None


def change_run(path: Path, rng: random.Random) -> None:
    """Change the manifest or the tensors of a run, half of the time with a hash that fits."""
    manifest = path / "model.json"
    if rng.random() < 0.4:
        return change_json(manifest, rng)
    about = json.loads(manifest.read_text())
    tensors = path / about["tensors"]
    if rng.random() < 0.3:
        change_bytes(tensors, rng)
    else:
        tensors.write_bytes(_changed_tensors(tensors.read_bytes(), rng))
    if rng.random() < 0.9:
        about["sha256"] = hashlib.sha256(tensors.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(about))
    return None


def _changed_tensors(data: bytes, rng: random.Random) -> bytes:
    tensors = load(data)
    one, two = rng.choices(list(tensors), k=2)
    value = tensors[one]
    types = [torch.float16, torch.float32, torch.float64, torch.int8, torch.int64, torch.bool,
             torch.complex64, torch.bfloat16, torch.uint8]  # fmt: skip
    size = rng.randint(0, 5)
    made = rng.choice(
        [
            lambda: value.to(rng.choice(types)), lambda: value.reshape(-1), lambda: value[None],
            lambda: value[:size], lambda: value.double() * float("nan"), lambda: value + 2**40,
            lambda: value.double() / 0, lambda: -value, lambda: value.new_zeros(()),
            lambda: value.new_zeros(0), lambda: torch.cat([value, value]), lambda: tensors[two],
            lambda: value.mT, lambda: value.flip(0),
        ]
    )  # fmt: skip
    try:
        changed = made()
    except (RuntimeError, IndexError):
        changed = torch.ones(size)
    action = rng.random()
    if action < 0.15:
        del tensors[one]
    elif action < 0.3:
        tensors[one], tensors[two] = tensors[two], value
    else:
        tensors[rng.choice([one, one, one, "model.x", "options.x", "tilts"])] = changed
    return save({name: each.clone().contiguous() for name, each in tensors.items()})


PREDICT = ("predict", "run", "--pairs", "{file}", "--out", "{out}/o.csv")
PROJECT = ("project", "{file}", *GROUPS, "--out", "{out}/o.csv")
TRAIN = ("train", "--sensitive", "kind", "--model", "maxent", "--out", "{out}/o-run")
APPLY = ("project", "s.csv", *GROUPS, "--apply", "{file}", "--out", "{out}/o.csv")
KINDS = (
    Kind("s.csv", PROJECT, 3, change_csv),
    Kind("n.csv", (*TRAIN, "--links", "l.csv", "--nodes", "{file}"), 3, change_csv),
    Kind("l.csv", (*TRAIN, "--links", "{file}", "--nodes", "n.csv"), 2, change_csv),
    Kind("p.csv", PREDICT, 2, change_csv),
    Kind("p.csv.gz", PREDICT, 3, change_gzip),
    Kind("p.parquet", PREDICT, 2, change_parquet),
    Kind("s.parquet", PROJECT, 2, change_parquet),
    Kind("run", ("predict", "{file}", "--top", "1", "--out", "{out}/o.csv"), 5, change_run),
    Kind("cne-run", ("predict", "{file}", "--top", "1", "--out", "{out}/o.csv"), 2, change_run),
    Kind("saved.json", APPLY, 2, change_json),
    Kind("results.jsonl", ("report", "{file}", "--out", "{out}/o.html"), 2, change_rows),
    Kind("inner.toml", ("run", "{file}", "--out", "{out}/o.jsonl"), 1, change_toml),
)


def add_formats(inputs: Path) -> None:
    """Write the inputs that only mutations need."""
    (inputs / "inner.toml").write_text(STUDY.format(up="../"))
    (inputs / "p.csv.gz").write_bytes(gzip.compress((inputs / "p.csv").read_bytes(), mtime=0))
    pairs = pd.read_csv(inputs / "p.csv", dtype=str, keep_default_na=False)
    pairs.to_parquet(inputs / "p.parquet", index=False)
    LinkPredictor("cne", epochs=2).fit(LinkPredictor.load(inputs / "run").graph_).save(
        inputs / "cne-run"
    )


def make_case(seed: int, world: Path, place: str) -> list[str]:
    """Write a changed file to ``place`` in a world; the command line that reads it there."""
    rng = random.Random(seed)
    kind = rng.choices(KINDS, [kind.share for kind in KINDS])[0]
    changed = world / place / kind.file
    changed.parent.mkdir(parents=True)
    copy = shutil.copytree if (world / kind.file).is_dir() else shutil.copyfile
    copy(world / kind.file, changed)
    kind.change(changed, rng)
    return [arg.format(file=f"{place}/{kind.file}", out=place) for arg in kind.args]
