"""A process that fits: reads fits from stdin, writes rows to stdout, and ends with its parent.

Started by :mod:`linkparity.experiments.worker_pool` as a file, so that it listens before it imports
the package.
"""

import os
import pickle
import signal
import sys
import threading
import warnings
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from linkparity.experiments.fit import Fit


#: Bytes of the length before each fit.
SIZE = 8


def main() -> None:
    """Fit until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends stdin
    rows = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a package prints must not reach the rows
    fits: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, fits), daemon=True).start()
    _warm_up()
    while True:
        fit: Fit = pickle.loads(fits.get())
        print(fit.row().to_json(), file=rows, flush=True)


def _read(stdin: BinaryIO, fits: "SimpleQueue[bytes]") -> None:
    """Queue the fits; at the end of stdin, when the parent is done or dead, end at once.

    They stay pickled here: to unpickle one imports modules, which waits for other imports.
    """
    while len(size := stdin.read(SIZE)) == SIZE:
        text = stdin.read(int.from_bytes(size))
        fits.put(text)
    os._exit(0)


def framed(fit: "Fit") -> bytes:
    """A fit as it is sent: its length in :data:`SIZE` bytes, then the pickle."""
    text = pickle.dumps(fit)
    return len(text).to_bytes(SIZE) + text


def _warm_up() -> None:
    """Load what a fit needs, so that the first one does not take longer than the others."""
    import torch

    from linkparity.graph.graph import Graph
    from linkparity.models.prediction import LinkPredictor

    torch.set_num_threads(1)
    smallest = Graph(3, [[0, 1], [1, 2]], [0, 1, 2])  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one epoch teaches nothing, and says so
        LinkPredictor("dot-product", "dp", dimension=2, epochs=1).fit(smallest)


if __name__ == "__main__":
    main()
