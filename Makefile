# Everything sets itself up from python3, pip and make; the virtual environment is .venv.
export UV_PYTHON_DOWNLOADS = never
PYTHON ?= python3
UV = .uv/bin/uv
RUN = .venv/bin
WORKERS ?= 2
SLOW = tests/sandbox/test_attacks.py tests/sandbox/test_wasi_sandbox.py

.PHONY: setup help demo test test-sandbox test-user lint types imports check coverage bench clean

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
	$(RUN)/pytest -q -n $(WORKERS) $(SLOW:%=--ignore=%)

test-sandbox: setup  ## run the attacks on sandboxes, and the tests of WASI (the first time it is compiled)
	$(RUN)/pytest -q -n $(WORKERS) $(SLOW)

test-user: setup  ## run the sandbox's tests as an unprivileged user (as root)
	.ci/as-user

lint: setup  ## check style and format
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: setup  ## check types
	$(RUN)/pyright

imports: setup  ## check that imports point down
	$(RUN)/lint-imports

check: lint types imports test test-sandbox  ## all checks and the tests

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
	rm -rf .venv .uv .pytest_cache .ruff_cache .hypothesis
