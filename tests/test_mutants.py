"""The mutation test: the modules it mutates, and the tests it runs for them, are there."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def load_script():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_every_entry_of_its_map_has_modules_and_tests():
    script = load_script()
    modules = [path.relative_to(script.SOURCE).as_posix() for path in script.SOURCE.rglob("*.py")]
    for prefix, tests in script.TESTS.items():
        assert any(module.startswith(prefix) for module in modules), prefix
        assert all((ROOT / "tests" / test).exists() for test in tests.split()), tests
    for prefix in script.LEFT_OUT:
        assert any(module.startswith(prefix) for module in modules), prefix


def test_it_mutates_the_packages_that_the_page_names():
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Mutation test")[2]
    named = re.search(r"drawn with a seed from (.*?), and", text, re.DOTALL)[1]
    packages = {prefix.partition("/")[0] + "/" for prefix in load_script().TESTS}
    assert set(re.findall(r"`(.*?)`", named)) == packages
