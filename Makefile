# make run | test | test-all | lint | format | health
PYTHON ?= python3
BIN := .venv/bin
HOST ?= 127.0.0.1
PORT ?= 8000

.PHONY: help run test test-all lint format health
help:
	@echo "make run       serve the site with everything it needs, until Ctrl-C (PORT=8000)"
	@echo "make test      the tests, on a real PostgreSQL and Valkey"
	@echo "make test-all  the tests, slow ones too"
	@echo "make lint      style and types"
	@echo "make format    put the code into the style"
	@echo "make health    measure again what the cases of changed tasks catch"

run: $(BIN)/installed
	@HOST=$(HOST) PORT=$(PORT) exec $(BIN)/python manage.py serve

test: $(BIN)/installed
	@$(BIN)/pytest -m "not slow" -n 2 --dist worksteal

test-all: $(BIN)/installed
	@$(BIN)/pytest

lint: $(BIN)/installed
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(BIN)/installed
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

health: $(BIN)/installed
	@$(BIN)/python -m evaluator.health

$(BIN)/installed: $(wildcard requirements*.txt)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/it"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "This Python has no venv module (on Debian: apt-get install python3-venv)."; exit 1; }
	@echo "Installing the requirements into .venv; the first time takes a few minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@
