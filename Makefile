# Two commands: `make demo` shows what the package does, `make test` checks everything.
# Each makes the environment it needs in $(VENV); a second run finds it ready.

PYTHON ?= python3
VENV ?= .venv
OUT ?= demo
# Processes that run tests at the same time, and what else to tell pytest.
JOBS ?= 2
PYTEST ?=

BIN := $(VENV)/bin
# Only through the constraints: an unpinned torch may bring gigabytes of libraries for GPUs.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit fuzz kills format docs test-matrix clean

help:
	@echo "make demo    explain the bundled Shape classifier and write $(OUT)/report.html"
	@echo "make test    check style and types, run every test"
	@echo "make test-matrix   run the tests on every Python from 3.10 on, and on the lowest versions"
	@echo "make fuzz    damage 15,000 files, make 5,000 odd calls, and count what came of it"
	@echo "make kills   kill commands at every rename and at 20 moments each, and give them again"
	@echo "make format  mend the style where that can be done automatically"
	@echo "make docs    build the documentation in docs/_build"
	@echo "make clean   remove everything these made, $(VENV) too"

demo: $(VENV)/.base
	$(BIN)/gnninterpreter demo --out $(OUT) --overwrite

# mypy takes one core for half a minute, so it runs beside the tests.
test: lint
	@$(MAKE) --no-print-directory -j2 types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# One thread for each process: the tensors of the tests are tiny, and cores are few. Bytecode is
# kept: commands that tests start would compile the whole package each time.
unit: $(VENV)/.dev
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) $(PYTEST)

# The same tests as in `make unit`, with many times as many cases.
fuzz: $(VENV)/.dev
	FUZZ=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --timeout 3600 $(PYTEST) \
		tests/test_readers.py tests/test_odd_calls.py

kills: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/kills.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-matrix:
	$(PYTHON) benchmarks/matrix.py

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --fail-on-warning --quiet docs docs/_build
	@echo "docs/_build/index.html"

clean:
	rm -rf $(VENV) $(OUT) docs/_build docs/jupyter_execute build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("Python 3.10 or later is needed; name one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), which takes a few minutes the first time"
	$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), which takes a few minutes the first time"
	$(INSTALL) -e '.[dev]'
	@touch $(VENV)/.base $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e '.[docs]'
	@touch $@
