"""What the repository says of itself agrees with itself."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import linkparity
from linkparity.cli.command import EXTRAS as NEEDED
from linkparity.cli.command import app
from linkparity.support.errors import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Where a distribution has another name than the package.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python"}
OLDER = {"gae", "tables"}  # names that still install, and that nothing mentions


def wheel_script(name):
    """A script of ``tests/wheel`` as a module."""
    folder = ROOT / "tests" / "wheel"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def names(requirements):
    """Distributions as they are written, without versions; extras of linkparity in brackets."""
    return {re.match(r"[\w.-]+(\[.*\])?", each)[0] for each in requirements}


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
    wanted = {"help", "demo", "test", "test-all", "wheel", "newest", "check", "bench", "clean"}
    assert wanted <= set(phony)
    assert all(re.search(rf"^{name}:.*## \S", text, re.MULTILINE) for name in phony)


def test_ci_ends_with_the_test_command_of_readme():
    assert "\nmake test " in (ROOT / "README.md").read_text()
    text = (ROOT / ".ci" / "run").read_text()
    steps = re.findall(r"^make (?:--keep-going )?(\w+)", text, re.MULTILINE)
    assert steps == ["lint", "wheel", "standing", "newest", "test"]
    assert re.search(r"^make newest \|\| echo ", text, re.MULTILINE)  # it never fails the run


def test_a_plain_installation_has_no_torch():
    """Audits, corrections and projections need nothing else."""
    assert names(PROJECT["dependencies"]) == {
        "numpy", "scipy", "duckdb", "pyarrow", "typer", "rich", "jinja2", "platformdirs",
        "narwhals",
    }  # fmt: skip
    assert "<" not in next(each for each in PROJECT["dependencies"] if each.startswith("duckdb"))


def test_extras():
    extras = {name: names(asked) for name, asked in PROJECT["optional-dependencies"].items()}
    assert extras["train"] == {"torch", "scikit-learn", "safetensors", "requests"}
    assert extras["report"] == {"altair", "vl-convert-python"}
    assert extras["spark"] == {"pyspark", "pandas"}
    assert extras["pyg"] == {"linkparity[train]", "torch_geometric"}
    assert extras["dask"] == {"linkparity[train]", "dask", "distributed"}
    assert extras["all"] == {"linkparity[train,report,spark,pyg,dask]"}
    assert (extras["gae"], extras["tables"]) == ({"linkparity[pyg]"}, set())
    assert {"linkparity[train,report,spark,dask]", "pandas"} <= extras["test"]


def test_messages_name_the_extra_that_brings_the_package():
    extras = PROJECT["optional-dependencies"]
    assert all(DISTRIBUTIONS.get(p, p) in names(extras[extra]) for p, extra in EXTRAS.items())
    everything = {p for extra in ("train", "report", "spark") for p in names(extras[extra])}
    assert everything <= {DISTRIBUTIONS.get(package, package) for package in EXTRAS}


def test_extras_have_one_name_in_messages_and_pages():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    named = {
        extra.strip()
        for page in pages
        if page.name != "CHANGELOG.md"
        for extras in re.findall(r"(?:linkparity|\s\"\.)\[([\w, -]+)\]", page.read_text())
        for extra in extras.split(",")
    }
    assert {"train", "pyg", "spark", "report", "dask"} <= named
    assert named <= set(PROJECT["optional-dependencies"]) - OLDER


def test_every_command_runs_in_clean_environments():
    commands = {each.callback.__name__ for each in app.registered_commands}
    wheel, newest = wheel_script("check_wheel"), wheel_script("check_newest")
    assert {text.split()[1] for text in wheel.OTHERS} == set(NEEDED)
    alone = {text.split()[1] for text in wheel.ALONE} - {"--version"}
    assert alone == commands - set(NEEDED)
    texts = [text for step in newest.SMOKE.values() for text in step]
    assert {text.split()[1] for text in texts if text.startswith("linkparity")} == commands
    assert wheel.TORCH in (ROOT / "constraints.txt").read_text().split()
    assert wheel.TORCH in (ROOT / "Makefile").read_text()


def test_tutorial_and_readme_install_what_training_needs_first():
    for page in ("README.md", "docs/tutorial.md"):
        text = (ROOT / page).read_text()
        assert 0 < text.find('pip install ".[train]"') < text.find("$ linkparity train"), page
