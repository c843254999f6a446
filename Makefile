# The whole developer interface. Each target sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = $(shell find npp_env -name '*.py' -o -name '*.pxd')

.PHONY: demo test check lint types package build sanitize bench clean

$(VENV)/.ready: setup.cfg pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e ".[dev]"
	touch $@

$(VENV)/.built: $(VENV)/.ready $(SOURCES)
	$(BIN)/python setup.py -q build_ext --inplace
	touch $@

build: $(VENV)/.built

demo: build
	$(BIN)/npp-env demo

test: build
	$(BIN)/python -m pytest

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: build
	$(BIN)/mypy

package: build
	rm -rf dist
	$(BIN)/python -m build -q
	$(PYTHON) -m venv --clear $(VENV)/wheel
	$(VENV)/wheel/bin/python -m pip install -q dist/*.whl
	cd dist && ../$(VENV)/wheel/bin/python ../tests/smoke_installed.py

check: lint types test package

sanitize: build
	$(BIN)/python tests/sanitize.py

bench: build
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist *.egg-info
	find npp_env -name '*.so' -delete
