"""What a page without a network carries in itself: scripts, charts, rows."""

import base64
import csv
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import Any

from linkparity.support.errors import require

#: Width of the charts that are there before a script has run.
STATIC_WIDTH = {"groups-before": 300, "groups-after": 300, "strength-gap": 420}


@cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, to be put into the page."""
    made: str = require("vl_convert", "a report").javascript_bundle()
    if "</script" in made or "<!--" in made:
        raise RuntimeError("the chart library holds text that would end its script element")
    return f"\n{made}\n"


def script() -> str:
    """What connects the charts, the choices and the tables."""
    return (files("linkparity.report") / "templates" / "report.js").read_text(encoding="utf-8")


def script_hash(text: str) -> str:
    """The hash by which the page's policy lets a script run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def static_svg(name: str, spec: dict[str, Any]) -> str:
    """A chart as an SVG element: what is there before, and without, a script."""
    convert = require("vl_convert", "a report")
    svg: str = convert.vegalite_to_svg(spec | {"width": STATIC_WIDTH.get(name, 680)})
    for namespace in ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"):
        svg = svg.replace(f' xmlns="{namespace}"', "").replace(f' xmlns:xlink="{namespace}"', "")
    return re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)


def packed_charts(specs: dict[str, dict[str, Any]]) -> str:
    """All charts as Vega, compressed; data that several of them have are there once."""
    convert = require("vl_convert", "a report")
    made = {name: convert.vegalite_to_vega(spec) for name, spec in specs.items()}
    data = {}
    for spec in made.values():
        for each in spec["data"]:
            if "values" in each:
                data[each["name"]] = each.pop("values")
    return packed(json.dumps({"specs": made, "data": data}))


def packed(text: str) -> str:
    """Text compressed, as letters that a script element can hold."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """A CSV table with every column that some row has."""
    columns = dict.fromkeys(key for row in rows for key in row)
    text = StringIO()
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
