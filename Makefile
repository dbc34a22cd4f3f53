# Everything sets itself up from python3, pip and make; the virtual environment is .venv.
export UV_PYTHON_DOWNLOADS = never
PYTHON ?= python3
UV = .uv/bin/uv
RUN = .venv/bin
WORKERS ?= 2
SLOW = tests/sandbox/test_attacks.py tests/sandbox/test_wasi_sandbox.py
LOADER = tests/tasks/test_swe_loader.py
FIX = tests/agents tests/fixing tests/workspaces tests/workflows/test_manager_worker.py tests/cli/test_cli_fix.py \
	$(filter-out $(LOADER),$(wildcard tests/tasks/test_swe_*.py))

.PHONY: setup help demo test test-sandbox test-fix test-user lint types imports check coverage bench clean

setup: .venv/.ready  ## make .venv with everything in it (the default)

.venv/.ready: uv.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "treadle needs Python 3.11 or newer; set PYTHON=…")'
	test -x $(UV) || $(PYTHON) -m pip install --quiet --disable-pip-version-check --target .uv uv
	$(UV) sync --quiet --frozen --all-extras --python $(PYTHON)
	touch $@

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target text; do printf '  make %-13s %s\n' "$$target" "$$text"; done

demo: setup  ## fetch a small model, measure and search on it
	$(RUN)/python examples/demo/demo.py

test: setup  ## run the tests, but for the slow ones below
	$(RUN)/pytest -q -n $(WORKERS) $(addprefix --ignore=,$(SLOW) $(FIX) $(LOADER))

test-sandbox: setup  ## run the attacks on sandboxes, and the tests of WASI (the first time it is compiled)
	$(RUN)/pytest -q -n $(WORKERS) $(SLOW)

test-fix: setup .swebench/.ready  ## run the tests of fixing repositories, and whether SWE-bench takes the predictions
	$(RUN)/pytest -q -n $(WORKERS) $(FIX)
	PYTHONPATH=.swebench $(RUN)/pytest -q $(LOADER)

.swebench/.ready: .venv/.ready
	$(UV) pip install --quiet --python $(RUN)/python --target .swebench swebench==4.1.0
	touch $@

test-user: setup  ## run the sandbox's tests as an unprivileged user (as root)
	.ci/as-user

lint: setup  ## check style and format
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: setup  ## check types
	$(RUN)/pyright

imports: setup  ## check that imports point down
	$(RUN)/lint-imports

check: lint types imports test test-sandbox test-fix  ## all checks and the tests

coverage: setup  ## run the tests and show what they do not reach
	$(RUN)/coverage run -m pytest -q
	$(RUN)/coverage report --skip-covered

bench: setup  ## run the benchmarks
	$(RUN)/python benchmarks/ledger.py
	$(RUN)/python benchmarks/http_client.py
	$(RUN)/python benchmarks/startup.py
	$(RUN)/python benchmarks/search
	$(RUN)/python benchmarks/sandbox.py

clean:  ## remove what make and the tools made
	rm -rf .venv .uv .swebench .pytest_cache .ruff_cache .hypothesis
