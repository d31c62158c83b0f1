# From a bare clone with Python 3.11 or newer: `make demo`, `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Processes that run the tests; torch takes one thread in each.
JOBS ?= 2
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
SOURCES := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test standing test-all wheel newest lint types check bench mutants figures constraints clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## Install what is needed and run the main job on an embedded graph
	@$(BIN)/linkparity demo

test: $(VENV)/.dev ## Install everything and run the tests, without the standing ones
	$(PYTEST) -m "not standing" $(ARGS)

standing: $(VENV)/.dev ## Run the long-running standing tests alone
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m standing $(ARGS)  # they start processes of their own

test-all: test standing ## Run all tests

wheel: $(BIN)/python ## Install the wheel into a clean environment, alone and to train, and run the documented commands
	$(BIN)/python tests/wheel/check_wheel.py

newest: $(BIN)/python ## Run every command with the newest release of every dependency but PyTorch, in 8 minutes
	$(BIN)/python tests/wheel/check_newest.py

lint: $(VENV)/.dev ## Style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## Type annotations
	$(BIN)/mypy

check: lint types test ## All that a change must pass: lint, types, test

bench: $(VENV)/.dev ## Time the projection against other solvers, on two threads
	OMP_NUM_THREADS=2 MKL_NUM_THREADS=2 $(BIN)/python benchmarks/projection.py --json out/projection.json $(ARGS)

mutants: $(VENV)/.dev ## Change the source in 320 places and see whether the tests notice
	OMP_NUM_THREADS=1 PYTHONHASHSEED=0 $(BIN)/python benchmarks/mutants.py --jobs $(JOBS) $(ARGS)

figures: $(VENV)/.dev ## Draw the figures of README and docs again
	$(BIN)/python docs/figures.py

constraints: ## Resolve the dependencies anew and pin what came out in constraints.txt
	rm -rf build/pins && $(PYTHON) -m venv build/pins
	build/pins/bin/python -m pip install --quiet 'torch==2.13.0' -e '.[all,dev]'
	build/pins/bin/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no python3 found; install Python 3.11 or newer" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: $(PYTHON) is older than 3.11; run make PYTHON=/path/to/python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# Installed once, and again when the dependencies change.
$(VENV)/.demo: $(SOURCES) | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[train,report]'
	@touch $@

$(VENV)/.dev: $(SOURCES) | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[all,dev]'
	@touch $(VENV)/.demo $@
