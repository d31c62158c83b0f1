"""Optional packages: imported on use, with the pip command when missing."""

from importlib import import_module
from typing import Any


def require(module: str, where: str, install: str) -> Any:
    """Import ``module``, or raise an error with the pip command that ``where`` needs.

    >>> require("no_such_module", "Graph.to_pyg", "linkparity[gae]")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: Graph.to_pyg needs no_such_module: pip install "linkparity[gae]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
            raise
        package = module.partition(".")[0]
        raise ModuleNotFoundError(
            f'{where} needs {package}: pip install "{install}"', name=missing.name
        ) from None
