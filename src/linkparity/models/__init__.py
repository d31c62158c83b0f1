"""Link models, one file each: a graph → a logit for every pair of its nodes."""

from linkparity.models.base import LinkModel
from linkparity.models.cfc import CFC
from linkparity.models.cne import CNE
from linkparity.models.debayes import DeBayes
from linkparity.models.dot_product import DotProduct
from linkparity.models.fairadj import FairAdj
from linkparity.models.fairdrop import FairDrop
from linkparity.models.fairwalk import DeepWalk, Fairwalk
from linkparity.models.flip import Flip
from linkparity.models.gae import GAE
from linkparity.models.maxent import MaxEnt
from linkparity.support.registry import Registry

__all__ = [
    "CFC",
    "CNE",
    "GAE",
    "MODELS",
    "DeBayes",
    "DeepWalk",
    "DotProduct",
    "FairAdj",
    "FairDrop",
    "Fairwalk",
    "Flip",
    "LinkModel",
    "MaxEnt",
]

#: The models by name; registering one here is all that the contract tests need.
MODELS: Registry[type[LinkModel]] = Registry(
    "model",
    {
        "cfc": CFC,
        "cne": CNE,
        "debayes": DeBayes,
        "deepwalk": DeepWalk,
        "dot-product": DotProduct,
        "fairadj": FairAdj,
        "fairdrop": FairDrop,
        "fairwalk": Fairwalk,
        "flip": Flip,
        "gae": GAE,
        "maxent": MaxEnt,
    },
)
