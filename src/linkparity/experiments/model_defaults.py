"""What the models of the package train with by default, told without importing PyTorch.

``--help`` and reports of rows need no model; a test compares the table with the models.
"""

from typing import NamedTuple


class Defaults(NamedTuple):
    """Embedding dimension, epochs, learning rate; the strength of a method that has its own."""

    dimension: int
    epochs: int
    lr: float
    strength: float | None = None


DEFAULTS = {
    "cfc": Defaults(128, 100, 0.01, 100.0),
    "cne": Defaults(8, 200, 0.1),
    "debayes": Defaults(8, 200, 0.1),
    "deepwalk": Defaults(128, 100, 0.05),
    "dot-product": Defaults(128, 100, 0.01),
    "fairadj": Defaults(16, 200, 0.01, 20),
    "fairdrop": Defaults(16, 200, 0.01, 0.16),
    "fairwalk": Defaults(128, 100, 0.05),
    "flip": Defaults(128, 5, 0.01, 0.1),
    "gae": Defaults(16, 100, 0.01),
    "maxent": Defaults(1, 100, 0.01),
}
