"""What the repository says of itself agrees with itself."""

import re
import tomllib
from pathlib import Path

import linkparity

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version_everywhere():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert PROJECT["version"] == linkparity.__version__ == cited[1]


def test_public_names_exist_and_stand_once():
    assert len(set(linkparity.__all__)) == len(linkparity.__all__)
    assert all(hasattr(linkparity, name) for name in linkparity.__all__)


def test_constraints_pin_every_direct_dependency_by_its_public_name():
    lines = (ROOT / "constraints.txt").read_text().split()
    pinned = {re.sub("[-_.]+", "-", line.split("==")[0]).lower() for line in lines}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    asked = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in (each for group in asked for each in group):
        name = re.match(r"[\w.-]+", requirement)[0]
        assert name == "linkparity" or re.sub("[-_.]+", "-", name).lower() in pinned


def test_make_help_lists_every_target():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)[1].split()
    wanted = {"help", "demo", "test", "test-all", "wheel", "check", "bench", "clean"}
    assert wanted <= set(phony)
    assert all(re.search(rf"^{name}:.*## \S", text, re.MULTILINE) for name in phony)


def test_ci_runs_the_test_command_of_readme():
    assert "\nmake test " in (ROOT / "README.md").read_text()
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text()
    assert "\nmake wheel " in (ROOT / ".ci" / "run").read_text()


def test_front_doors_need_no_extra():
    """What the README shows works after a plain install; old names of extras stay valid."""
    ordinary = " ".join(PROJECT["dependencies"])
    for name in ("duckdb>=1.4", "pyarrow", "pandas", "narwhals", "jinja2"):
        assert name in ordinary
    assert "<" not in next(each for each in PROJECT["dependencies"] if each.startswith("duckdb"))
    assert not {"ibis", "sqlglot"} & set(re.split(r"\W", ordinary))
    extras = PROJECT["optional-dependencies"]
    assert {"tables", "spark", "pyg", "gae", "report", "all", "test", "bench", "dev"} <= set(extras)
    assert extras["tables"] == []


def test_extras_have_one_name_in_messages_and_pages():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    named = {
        extra.strip()
        for page in pages
        if page.name != "CHANGELOG.md"
        for extras in re.findall(r"(?:linkparity|\s\"\.)\[([\w, -]+)\]", page.read_text())
        for extra in extras.split(",")
    }
    older = {"gae", "tables"}  # they stay installable
    assert {"pyg", "spark", "report", "dask"} <= named
    assert named <= set(PROJECT["optional-dependencies"]) - older
    assert older <= set(PROJECT["optional-dependencies"])
