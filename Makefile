# Two commands do all set-up on a machine that has Python >= 3.11, pip and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-slow test-gpu smoke lint types stubs pages clean

# the package and its tools, pinned; made again when the pins or the package's metadata change
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "tagwright needs Python 3.11 or newer; set PYTHON="; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev,huggingface,pretrained,lora,cjk]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/tagwright demo --out demo --overwrite

test: lint types
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow and not gpu"

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) -m "slow and not gpu"

test-gpu: $(VENV)/.installed
	$(BIN)/python -m pytest -m gpu

# the built wheel in an empty environment: newest and lowest dependencies, and with other interpreters if named
smoke:
	tests/smoke/wheel.sh $(PYTHON) $(OTHERS)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

stubs: $(VENV)/.installed
	$(BIN)/python tools/stubs.py

pages: $(VENV)/.installed
	$(BIN)/python tools/loss_pages.py

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache
