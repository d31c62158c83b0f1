"""Pages from Jinja2 templates: everything is escaped, and numbers have one format."""

from typing import Any

from linkparity.support.display import format_interval, format_number


def render(template: str, **values: Any) -> str:
    """The page of a template in ``report/templates``; an undefined name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("linkparity.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "number": format_number,
        "interval": format_interval,
        "thousands": "{:,}".format,
        "shortened": shortened,
    }
    return environment.get_template(template).render(**values)


def shortened(name: str) -> str:
    """A name of at most 18 characters: its start and its end.

    >>> shortened("Department of Computer Science")
    'Departme…r Science'
    """
    return name if len(name) <= 18 else f"{name[:8]}…{name[-9:]}"
