"""Pages from Jinja2 templates: no control characters, everything escaped, one format of numbers."""

from typing import Any

from linkparity.support.display import (
    format_interval,
    format_number,
    format_rounded,
    without_controls,
)


def render(template: str, **values: Any) -> str:
    """The page of a template in ``report/templates``; an undefined name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("linkparity.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_shown,
    )  # fmt: skip
    environment.filters |= {
        "number": format_number,
        "rounded": format_rounded,
        "interval": format_interval,
        "thousands": "{:,}".format,
        "shortened": shortened,
    }
    return environment.get_template(template).render(**values)


def _shown(value: Any) -> Any:
    """What a template shows; text that is marked as safe, such as a script, is left as it is."""
    return printable(value) if type(value) is str else value


def printable(value: Any) -> Any:
    r"""Texts, also inside lists and dictionaries, without control characters, as UTF-8 has them.

    >>> printable({"a\x1b": ["b\x00", "\udcff", 1]})
    {'a': ['b', '\\udcff', 1]}
    """
    if isinstance(value, dict):
        return {printable(key): printable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [printable(each) for each in value]
    if not isinstance(value, str):
        return value
    return without_controls(value).encode("utf-8", "backslashreplace").decode()


def shortened(name: str) -> str:
    """A name of at most 18 characters: its start and its end.

    >>> shortened("Department of Computer Science")
    'Departme…r Science'
    """
    return name if len(name) <= 18 else f"{name[:8]}…{name[-9:]}"
