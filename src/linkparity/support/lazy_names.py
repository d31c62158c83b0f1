"""Names of a package, imported when they are used; stand-ins for those whose extra is missing."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NoReturn


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package that imports each name when it is first used.

    Without the extra that a name needs, it is a stand-in, so that ``from package import *`` works.

    Args:
        package: name of the package.
        homes: the module of the package that each name is in; empty for a name of a module.
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        try:
            module = import_module(f"{package}.{home or name}")
        except ModuleNotFoundError as missing:
            return _stand_in(name, missing)
        value = getattr(module, name) if home else module
        setattr(sys.modules[package], name, value)
        return value

    return find


class _StandIn(type):
    """A name whose extra is missing: calling it, deriving from it or looking inside raises."""

    missing: str

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, object]) -> None:
        super().__init__(name, bases, space)
        for base in bases:
            if isinstance(base, _StandIn):
                base._fail()

    def _fail(cls) -> NoReturn:
        from linkparity.support.errors import not_installed

        raise not_installed(cls.missing, cls.__name__)

    def __call__(cls, *args: object, **keywords: object) -> NoReturn:
        cls._fail()

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):  # what notebooks and inspect look for
            raise AttributeError(name)
        cls._fail()


def _stand_in(name: str, missing: ModuleNotFoundError) -> type:
    """A stand-in; as a warning it may stand in ``except`` and in filters of warnings."""
    from linkparity.support.errors import EXTRAS

    package = str(missing.name).partition(".")[0]
    if package not in EXTRAS:
        raise missing
    return _StandIn(name, (Warning,), {"missing": package})
