# make app    set up .venv if needed and serve the dashboard (STREAMLIT_* is honoured)
# make test   everything that must hold before a change lands, in under 15 minutes
# make help   the rest
#
# PYTHON=python3.12 chooses the interpreter that .venv is made from.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
# Given by the user, or else the first python that is new enough and can make a venv.
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c '$(USABLE)' >/dev/null 2>&1 && echo "$$p" && break; done)

# Two workers with one thread each: on a small machine more threads only compete.
PYTEST := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest
WORKERS := -n 2 --dist worksteal

.PHONY: help app test test-long lint format clean

help:
	@echo "make app        serve the dashboard on http://localhost:8501"
	@echo "make test       lint, types, doctests, tests, app, notebooks, README"
	@echo "make test-long  the same and the slow tests"
	@echo "make lint       ruff and mypy alone"
	@echo "make format     let ruff rewrite the code"
	@echo "make clean      remove .venv and everything that tools left"

app: $(VENV)/.app-ready
	$(BIN)/streamlit run app/main.py

# Cheap checks first: a typo shows in seconds.
test: lint
	$(PYTEST) $(WORKERS)

# The odd frames of tests/estimators/test_odd_frames.py: 25 in make test.
test-long: lint
	SPAM_ODD_FRAMES=200 $(PYTEST) $(WORKERS) -m "slow or not slow"

lint: $(VENV)/.dev-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy spam_core $(wildcard app/ui)

format: $(VENV)/.dev-ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache \
		.hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: nothing is installed again until a list of requirements changes. They are
# written last, so a set-up that was interrupted starts again.
$(VENV)/.app-ready: requirements.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	@touch $@

$(VENV)/.dev-ready: requirements-dev.txt $(VENV)/.app-ready
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements-dev.txt
	@touch $@

$(BIN)/python:
	@if [ -z "$(PYTHON)" ] || ! "$(PYTHON)" -c '$(USABLE)' >/dev/null 2>&1; then \
		echo "SPAM needs Python 3.11 or newer with the venv module." >&2; \
		if command -v "$${PYTHON:-python3}" >/dev/null 2>&1; then \
			echo "Found: $$("$${PYTHON:-python3}" --version 2>&1)." >&2; fi; \
		echo "Debian and Ubuntu: apt-get install python3 python3-venv" >&2; \
		echo "Fedora: dnf install python3.12;  macOS: brew install python" >&2; \
		echo "Another interpreter: make PYTHON=/path/to/python3.12 app" >&2; \
		exit 1; \
	fi
	@echo "Setting up $(VENV) with $$("$(PYTHON)" --version): a few minutes, once."
	"$(PYTHON)" -m venv $(VENV)
