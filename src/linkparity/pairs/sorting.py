"""Rows in the order of their scores: sorted at once, or bucket by bucket in temporary files."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from linkparity.pairs.source import PairSource
from linkparity.support.arrays import narrow

Rows = tuple["np.ndarray[Any, Any]", ...]
#: More rows than this are sorted in buckets.
AT_ONCE = 1 << 22
#: Rows of a bucket, about.
BUCKET = 1 << 21
#: Buckets at most, each of which has open files.
MAX_BUCKETS = 100
#: Sorted rows are handed on in pieces of this length.
PIECE = 1 << 16
#: Scores that the bounds of buckets are drawn from, per bucket.
SAMPLE = 1 << 10


def sorted_rows(source: PairSource, columns: Sequence[str]) -> Iterator[Rows]:
    """All rows of a source in ascending order of their scores, as score and ``columns``."""
    if source.size <= AT_ONCE:
        parts = list(_rows(source, columns))
        if parts:
            yield from pieces([np.concatenate(each) for each in zip(*parts, strict=True)])
        return
    with TemporaryDirectory(dir=source.scratch) as folder:
        yield from _by_buckets(source, columns, Path(folder))


def _rows(source: PairSource, columns: Sequence[str]) -> Iterator[Rows]:
    """Score and columns of all rows, chunk by chunk."""
    begin = 0
    for chunk in source.chunks():
        count = len(chunk.score)
        found = (
            np.arange(begin, begin + count) if name == "row" else getattr(chunk, name)
            for name in columns
        )
        yield (chunk.score, *found)
        begin += count


def pieces(rows: Sequence[np.ndarray]) -> Iterator[Rows]:
    """Rows in order; rows of one score need no sorting."""
    score = rows[0]
    if not len(score):
        return
    tied = bool(score[0] == score[-1] and score.min() == score.max())
    order = None if tied else np.argsort(score)
    for low in range(0, len(score), PIECE):
        piece: Any = slice(low, low + PIECE)
        if order is not None:
            piece = order[piece]
        yield tuple(np.asarray(column[piece]) for column in rows)


def _by_buckets(source: PairSource, columns: Sequence[str], folder: Path) -> Iterator[Rows]:
    """Write rows to a file per bucket and column, then sort one bucket at a time."""
    count = min(-(-source.size // BUCKET), MAX_BUCKETS)
    step = max(source.size // (count * SAMPLE), 1)
    edges = bucket_edges([chunk.score[::step] for chunk in source.chunks()], count)
    kinds: list[np.dtype[Any]] = []
    with ExitStack() as stack:
        files = [
            [stack.enter_context((folder / f"{b}.{c}").open("wb")) for c in range(len(columns) + 1)]
            for b in range(len(edges) + 1)
        ]
        for rows in _rows(source, columns):
            kinds = kinds or [column.dtype for column in rows]
            bucket = np.searchsorted(edges, rows[0], "right")
            order = np.argsort(narrow(bucket, len(files)), kind="stable")
            stops = np.cumsum(np.bincount(bucket, minlength=len(files)))
            for column, place in zip(rows, range(len(rows)), strict=True):
                moved = column.astype(kinds[place], copy=False)[order]
                for b, part in enumerate(np.split(moved, stops[:-1])):
                    if len(part):
                        files[b][place].write(np.ascontiguousarray(part).data)
    for b in range(len(edges) + 1):
        paths = [folder / f"{b}.{place}" for place in range(len(kinds))]
        files_of = zip(paths, kinds, strict=True)
        yield from pieces([np.fromfile(path, dtype=kind) for path, kind in files_of])
        for path in paths:
            path.unlink()


def bucket_edges(parts: Sequence[np.ndarray], count: int) -> np.ndarray:
    """The lowest score of every bucket but the first, from some of the scores.

    A score of very many rows has a bucket of its own, from it to the next number.
    """
    sample = np.sort(np.concatenate(parts))
    if not len(sample):
        return sample
    edges, times = np.unique(sample[np.arange(1, count) * len(sample) // count], return_counts=True)
    return np.unique(np.concatenate([edges, np.nextafter(edges[times > 1], np.inf)]))
