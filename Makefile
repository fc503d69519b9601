# Two commands do everything on a fresh machine: `make serve` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
endif
STAMP := $(VENV)/.installed

.PHONY: setup serve fmt check test sweep mutations golden conformance clients frontend oracle in-front bench coverage clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(STAMP)

serve: setup
	@$(BIN)/python -m kernel serve $(ARGS)

fmt: setup
	$(BIN)/ruff check --fix --quiet kernel scheduler tests bench || true
	$(BIN)/ruff format kernel scheduler tests bench

check: setup
	$(BIN)/ruff format --check kernel scheduler tests bench
	$(BIN)/ruff check kernel scheduler tests bench
	$(BIN)/mypy --strict -p kernel -p scheduler
	$(BIN)/lint-imports

test: setup
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

sweep: setup
	$(BIN)/python -m pytest -q -m "slow or stress" -n 2 --dist loadfile

# Plants every bug of the table, one at a time, and runs the test that should catch it.
mutations: setup
	$(BIN)/python -m tests.mutations

# Lines and branches, of this process and of all that the tests start. TESTS names a part of the suite.
# Of the cores nothing may be missing: what is, is listed last.
TESTS ?=
coverage: setup
	$(BIN)/coverage erase
	@status=0; $(BIN)/coverage run -m pytest -q -n 2 --dist loadfile $(TESTS) || status=$$?; \
	  $(BIN)/coverage combine --quiet; $(BIN)/coverage report; \
	  $(BIN)/coverage json --quiet -o - | $(BIN)/python -m tests.coverage_of_cores || status=1; \
	  exit $$status

# Compares our kernel with recordings of the real one. GOLDEN names a folder of recordings, ONLY a pattern.
GOLDEN ?= tests/golden/recordings
ONLY ?= *
golden: setup
	$(BIN)/python tests/golden/golden.py compare $(GOLDEN) --only '$(ONLY)' --by-family \
	  --spawn '$(BIN)/python -m kernel serve --port {port} --workspace {workspace}'

conformance: setup
	$(BIN)/python tests/wire/conformance/run.py

clients: setup
	$(BIN)/python tests/wire/clients/run.py

# SiYuan's own web interface on this kernel. WD names a real distribution's folder.
frontend: setup
	$(BIN)/python tests/wire/frontend/run.py --wd "$(WD)" $(if $(ORACLE),--against '$(ORACLE)')

oracle: setup
	@test -n "$(ORACLE)" || { echo "ORACLE names the command that starts a real kernel, with {port} and {workspace}"; exit 2; }
	$(BIN)/python tests/golden/golden.py compare $(GOLDEN) --only '$(ONLY)' --by-family --spawn '$(ORACLE)'

# The plugin's endpoint in front of a real kernel (ORACLE as above): the same tests, then the same recordings. The
# comparison ends with 1 where one exchange differs: those are the rows of docs/differences.md.
in-front: setup
	@test -n "$(ORACLE)" || { echo "ORACLE names the command that starts a real kernel, with {port} and {workspace}"; exit 2; }
	SISYPHUS_TEST_KERNEL='$(ORACLE)' $(BIN)/python -m pytest -q tests/wire/test_either_host.py -m wire
	$(BIN)/python tests/golden/golden.py compare $(GOLDEN) --only 'mcp-*' --by-family \
	  --mcp 'http://127.0.0.1:{port+1}/sisyphus/mcp' \
	  --spawn "$(BIN)/python tests/wire/in_front.py --kernel '$(ORACLE)' --port {port} --workspace {workspace}"

bench: setup
	$(BIN)/python -m bench $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis dist build
