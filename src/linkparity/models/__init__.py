"""Link models, one file each: a graph → a logit for every pair of its nodes."""

from linkparity.models.base import LinkModel
from linkparity.models.cne import CNE
from linkparity.models.dot_product import DotProduct
from linkparity.models.gae import GAE
from linkparity.models.maxent import MaxEnt
from linkparity.models.table import MODELS

__all__ = ["CNE", "GAE", "MODELS", "DotProduct", "LinkModel", "MaxEnt"]
