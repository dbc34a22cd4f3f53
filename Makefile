# Everything sets itself up from python3, pip and make; the virtual environment is .venv.
export UV_PYTHON_DOWNLOADS = never
PYTHON ?= python3
UV = .uv/bin/uv
RUN = .venv/bin
WORKERS ?= 2

.PHONY: setup demo test lint types imports check coverage bench clean

setup: .venv/.ready

.venv/.ready: uv.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "treadle needs Python 3.11 or newer; set PYTHON=…")'
	test -x $(UV) || $(PYTHON) -m pip install --quiet --disable-pip-version-check --target .uv uv
	$(UV) sync --quiet --frozen --all-extras --python $(PYTHON)
	touch $@

demo: setup
	$(RUN)/python examples/demo/demo.py

test: setup
	$(RUN)/pytest -q -n $(WORKERS) -m "not slow"

test-slow: setup
	$(RUN)/pytest -q -m slow

lint: setup
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: setup
	$(RUN)/pyright

imports: setup
	$(RUN)/lint-imports

check: lint types imports test

coverage: setup
	$(RUN)/coverage run -m pytest -q -m "not slow"
	$(RUN)/coverage report --skip-covered

bench: setup
	$(RUN)/python benchmarks/ledger.py
	$(RUN)/python benchmarks/http_client.py
	$(RUN)/python benchmarks/startup.py
	$(RUN)/python benchmarks/null_check.py

clean:
	rm -rf .venv .uv .pytest_cache .ruff_cache .hypothesis
