# `make setup` once, then `make demo`, `make check`; CONTRIBUTING.md says more.

.PHONY: help setup page page-tools page-pictures inspector client client-tools client-schema crewai google-adk fastembed sentence-transformers versions wheel try-wheel platforms release docs site demo demo-page test test-slow prove lint types check clean
.DELETE_ON_ERROR:

VENV := .venv
# Names the Python to use; by default the first one found that is 3.11 or newer.
PYTHON :=
# What the program with its embedder and service needs, and what builds the package.
RUNNING := requirements/build.txt requirements/runtime.txt requirements/minilm.txt requirements/service.txt
RUNS := $(VENV)/.runs
INSTALLED := $(VENV)/.installed
EMBEDDER := $(VENV)/.embedder
# What the tests compare with and cannot have beside the rest: it needs an older pydantic.
ORIGINALS := $(VENV)/originals/.installed
# What cannot stand beside the rest, each in an environment of its own: FastEmbed wants an older
# client of its hub, ADK an older OpenTelemetry; CrewAI older clients of its providers, and 850 MB.
ADK := $(VENV)/frameworks/google_adk/.installed
FASTEMBED := $(VENV)/frameworks/fastembed/.installed
CREWAI := $(VENV)/frameworks/crewai/.installed
# PyTorch is 750 MB without a graphics card's libraries and several GB with them. It has a build for
# each kind of machine, so no hash: pip takes the CPU build where it is set up to find one.
SENTENCES := $(VENV)/frameworks/sentence_transformers/.installed
TORCH := torch==2.13.0
# What builds the site of docs/.
SITE_TOOLS := $(VENV)/.site
# mem0, whose client the tests point at our service, with what it needs besides.
MEM0 := $(VENV)/mem0/.installed
PAGE_TOOLS := web/node_modules/.tools
# A client of others' making, with which tests/mcp asks the MCP server.
INSPECTOR := tests/mcp/inspector/node_modules/.package-lock.json
# What compiles the TypeScript client, and makes its types.
CLIENT := clients/typescript
CLIENT_TOOLS := $(CLIENT)/node_modules/.package-lock.json
# One worker more than there are cores, since tests wait now and then; the slow ones wait often.
CORES := $(shell nproc 2>/dev/null || echo 2)
# Each module runs in one worker; tests/harness/suite_parts.py orders the modules.
PYTEST := $(VENV)/bin/python -m pytest --dist loadscope --no-loadscope-reorder

# What `make prove` measures: each command `python -m benchmarks NAME` of docs/benchmarks*.md that
# needs no data from elsewhere.
BENCHMARKS := speed growth below starts strength readers durability postgres postgres-durability redis-durability conversation copy imports house size langgraph large service between nodes peers failover partitions replicas

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# The site's theme tells of a mkdocs to come; what builds the site is pinned.
export NO_MKDOCS_2_WARNING = 1
# The tests start hundreds of programs: each module is compiled once, not by each of them.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make setup      the environment in $(VENV), with the package and the embedder"
	@echo "make page       the web page, built from web/ into the package (needs Node 20 and npm)"
	@echo "make page-pictures  the kept pictures of the page's screens, taken anew"
	@echo "make inspector  the MCP inspector, which tests/mcp asks with (needs Node 20 and npm)"
	@echo "make client     the TypeScript client, compiled to clients/typescript/dist (needs Node 20 and npm)"
	@echo "make client-schema  its types, anew from the service's OpenAPI document"
	@echo "make crewai     CrewAI in an environment of its own, for its tests (850 MB)"
	@echo "make sentence-transformers  the same of sentence-transformers, and its tests (with PyTorch)"
	@echo "make versions   the adapters' tests with the lowest and newest version of each framework (3 GB)"
	@echo "make wheel      a release in dist/, which carries the page"
	@echo "make try-wheel  installs that wheel into an empty environment, and tries it"
	@echo "make platforms  looks for ready wheels of all that it needs, for each Python and system"
	@echo "make release    checks, builds and tries the release TAG=v1.2.3 (docs/releasing.md)"
	@echo "make docs       the documentation as a site, at http://127.0.0.1:8000, built anew at each change"
	@echo "make site       the same in build/site; a warning or a broken link fails"
	@echo "make demo       an example conversation: its page in the browser, or in a pipe what is done with it"
	@echo "make test       the tests (about 10 minutes on 2 cores)"
	@echo "make test-slow  those that start programs, servers and a browser (about 15 minutes)"
	@echo "make prove      the full counts and the benchmarks (long)"
	@echo "make lint       ruff: rules and format"
	@echo "make types      mypy --strict"
	@echo "make check      lint, types and both kinds of tests"
	@echo "make clean      remove what the tools left behind; $(VENV) stays"

setup: $(INSTALLED) $(EMBEDDER)

$(VENV)/bin/python:
	tools/make_venv $(VENV) $(PYTHON)

$(RUNS): requirements/install.txt $(RUNNING) pyproject.toml | $(VENV)/bin/python
	tools/install $(VENV) $(RUNNING)
	$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# What the tests need besides; it holds all of the above, in the same versions.
$(INSTALLED): requirements/dev.txt $(RUNS)
	COMPILE=1 tools/install $(VENV) requirements/dev.txt
	@touch $@

# Its own stamp: an embedder that could not be fetched does not repeat the rest.
$(EMBEDDER): $(RUNS)
	$(VENV)/bin/recollect embedder install
	@touch $@

# npm ci takes exactly what the lock names, each file checked by its digest.
$(PAGE_TOOLS): web/package.json web/package-lock.json
	npm --prefix web ci --no-audit --no-fund
	@touch $@

page-tools: $(PAGE_TOOLS)

$(INSPECTOR): tests/mcp/inspector/package.json tests/mcp/inspector/package-lock.json
	npm --prefix tests/mcp/inspector ci --no-audit --no-fund
	@touch $@

inspector: $(INSPECTOR)

$(CLIENT_TOOLS): $(CLIENT)/package.json $(CLIENT)/package-lock.json
	npm --prefix $(CLIENT) ci --no-audit --no-fund
	@touch $@

client-tools: $(CLIENT_TOOLS)

client: $(CLIENT_TOOLS)
	npm --prefix $(CLIENT) run build

client-schema: $(CLIENT_TOOLS) $(INSTALLED)
	$(VENV)/bin/python tools/make_client_schema

page: $(PAGE_TOOLS)
	npm --prefix web run build

# The pictures that tests/page compares each screen with; look at them before they are committed.
page-pictures: page $(INSTALLED)
	RECOLLECT_RENEW_PICTURES=1 $(VENV)/bin/python -m pytest -n 0 tests/page/test_pictures.py

wheel: page $(INSTALLED)
	rm -f dist/*.whl
	RECOLLECT_RELEASE=1 $(VENV)/bin/python -m build --wheel --no-isolation

try-wheel:
	$(VENV)/bin/python tools/try_wheel dist

# What a user installs comes built, for each Python of the classifiers: nobody needs a compiler.
platforms: $(INSTALLED)
	@for system in linux macos windows; do for python in 3.11 3.12 3.13; do \
	    rm -f $(VENV)/.platform; \
	    $(VENV)/bin/uv pip compile --quiet --no-header --only-binary :all: --python-platform $$system --python-version $$python \
	        --extra service --extra minilm --extra postgres --extra redis --extra client --extra mcp \
	        --output-file $(VENV)/.platform pyproject.toml || exit 1; \
	    echo "$$system, Python $$python: $$(grep -c == $(VENV)/.platform) packages, all of them built"; \
	done; done

release: $(INSTALLED)
	$(VENV)/bin/python tools/check_release $(TAG)
	$(MAKE) lint types site platforms
	$(MAKE) wheel
	$(MAKE) try-wheel

$(SITE_TOOLS): requirements/docs.txt $(INSTALLED)
	tools/install $(VENV) requirements/docs.txt
	@touch $@

docs: $(SITE_TOOLS)
	$(VENV)/bin/python -m mkdocs serve --no-strict

site: $(SITE_TOOLS)
	$(VENV)/bin/python -m mkdocs build --strict --quiet

# Where Node is, with what builds the page alone; elsewhere a sentence says what to do.
demo-page: $(RUNS)
	@$(VENV)/bin/python tools/build_hook.py || true

# On a terminal it ends in the browser; in a pipe, or with CI set, after the story, and needs no page.
demo:
	@if [ -t 0 ] && [ -t 1 ] && [ -z "$$CI" ]; then set -- --serve demo-page; else set -- "" ""; fi; \
	$(MAKE) --no-print-directory -j2 $(EMBEDDER) $$2 && $(VENV)/bin/recollect demo $$1

$(ORIGINALS) $(MEM0): $(VENV)/%/.installed: requirements/%.txt $(INSTALLED)
	$(VENV)/bin/python -m pip install --quiet --require-hashes --no-deps --upgrade \
		--target $(@D) -r $<
	@touch $@

$(ADK) $(CREWAI) $(FASTEMBED): $(VENV)/frameworks/%/.installed: requirements/%.txt $(INSTALLED)
	$(VENV)/bin/uv venv --quiet --clear --python $(VENV)/bin/python $(@D)
	$(VENV)/bin/uv pip install --quiet --require-hashes --python $(@D)/bin/python -r $<
	@touch $@

$(SENTENCES): requirements/sentence_transformers.txt $(INSTALLED)
	$(VENV)/bin/uv venv --quiet --clear --python $(VENV)/bin/python $(@D)
	$(VENV)/bin/python -m pip --python $(@D)/bin/python install --quiet $(TORCH)
	$(VENV)/bin/uv pip install --quiet --require-hashes --no-deps --python $(@D)/bin/python -r $<
	@touch $@

# The tests of each are skipped without it.
crewai: $(CREWAI)
google-adk: $(ADK)
fastembed: $(FASTEMBED)

sentence-transformers: $(SENTENCES)
	$(VENV)/bin/python -m pytest -n 0 tests/frameworks -k sentence_transformers

# Each framework's adapter with the lowest and the newest version that pyproject.toml promises.
versions: $(INSTALLED)
	$(VENV)/bin/python tools/try_versions

test: setup $(ORIGINALS)
	$(PYTEST) -n $$(($(CORES) + 1)) -m "not prove and not slow"

test-slow: setup $(ORIGINALS) $(MEM0) $(ADK) $(FASTEMBED)
	$(PYTEST) -n $$(($(CORES) * 2)) -m "slow and not prove" tests

prove: setup $(ORIGINALS) $(MEM0)
	$(VENV)/bin/python -m pytest -m prove
	set -e; for name in $(BENCHMARKS); do $(VENV)/bin/python -m benchmarks $$name; done

lint: $(INSTALLED)
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check

types: $(INSTALLED)
	$(VENV)/bin/mypy

check: lint types test test-slow

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src benchmarks tests -name __pycache__ -type d -prune -exec rm -rf {} +
