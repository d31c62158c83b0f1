"""The models by name: one line each."""

from linkparity.models.base import LinkModel
from linkparity.models.cne import CNE
from linkparity.models.dot_product import DotProduct
from linkparity.models.gae import GAE
from linkparity.models.maxent import MaxEnt
from linkparity.registry import Registry

MODELS: Registry[type[LinkModel]] = Registry(
    "model",
    {
        "cne": CNE,
        "dot-product": DotProduct,
        "gae": GAE,
        "maxent": MaxEnt,
    },
)
