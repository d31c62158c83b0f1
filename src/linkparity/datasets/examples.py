"""Tables that the package carries, to try ``audit`` and ``project`` on."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from linkparity.datasets.cache import packaged
from linkparity.support.errors import InputError
from linkparity.support.files import check_output, whole_files
from linkparity.support.registry import Registry

if TYPE_CHECKING:
    import pyarrow

#: Packaged tables of scores and of nodes.
EXAMPLES = Registry("example", {"jobs": ("jobs-scores.csv.gz", "jobs-people.csv.gz")})
#: Names of the same tables as files.
FILES = ("scores.csv", "people.csv")


def example(name: str) -> tuple["pyarrow.Table", "pyarrow.Table"]:
    """The scores and the nodes of an example, as :func:`~linkparity.audit` takes them.

    ``"jobs"`` is a synthetic job board. Scores have the columns ``source, target, score, label``
    (a seeker, a vacancy, a recommender's probability, 1 where the vacancy fits); nodes have
    ``node``, the ``gender`` and ``age`` of a seeker, the ``sector`` of a vacancy.

    >>> scores, nodes = example("jobs")
    >>> scores.num_rows, nodes.column_names
    (18000, ['node', 'gender', 'age', 'sector'])
    """
    from pyarrow import csv

    options = csv.ConvertOptions(strings_can_be_null=True)
    tables = (gzip.decompress(packaged(each)) for each in EXAMPLES[name])
    scores, nodes = (csv.read_csv(io.BytesIO(each), convert_options=options) for each in tables)
    return scores, nodes


def write_example(name: str, folder: str, force: bool = False) -> list[str]:
    """Write the tables of an example as CSV into a folder, made if need be; the files' names."""
    tables = EXAMPLES[name]
    names = [str(Path(folder) / each) for each in FILES]
    with _folder(Path(folder)), whole_files(names, force) as paths:
        for path, table in zip(paths, tables, strict=True):
            Path(path).write_bytes(gzip.decompress(packaged(table)))
    return names


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """A folder that exists; one that was made for outputs goes again if they fail."""
    if path.exists() and not path.is_dir():
        raise InputError("is not a directory", "give the name of one", where=str(path))
    made = not path.exists()
    if made:
        check_output(str(path), force=False)
        path.mkdir()
    try:
        yield
    except BaseException:
        if made and not any(path.iterdir()):
            path.rmdir()
        raise
