# `make help` lists what there is. Each command makes its own environment in .venv first. A command is
# described behind its name: after `##` for `make help`, after `##-teaching` for `make help-teaching`.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
RUN := $(BIN)/python
INSTALL := -m pip install --disable-pip-version-check --quiet
PIP := $(RUN) $(INSTALL)
NEW_ENOUGH := $(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('Python 3.11 or newer is needed, and $(PYTHON) is ' + sys.version.split()[0] + '. Name another one: make PYTHON=python3.12 ...')"

# What building takes, a line each: the extra `all` and the group `site`.
SITE_NAMES := "import tomllib; it = tomllib.load(open('pyproject.toml', 'rb')); \
	print(*it['project']['optional-dependencies']['all'], *it['dependency-groups']['site'], sep='\n')"
# Images of containers often forbid Python to keep what it compiled, and each kernel would do it anew.
unexport PYTHONDONTWRITEBYTECODE

# In a container one is root, which JupyterLab refuses unless it is told so.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# Peers of the benchmark, which no reader needs, have an environment of their own.
BENCH := .venv-bench
BENCH_RUN := $(subst $(VENV),$(BENCH),$(RUN))

# So has PyTorch for the small language model. Python compiles the little of it that is used.
LANGUAGE := .venv-language
LANGUAGE_RUN := $(subst $(VENV),$(LANGUAGE),$(RUN))

# The Python that pages run, some forty megabytes to fetch. A site without it is whole but for that.
LIVE := .live
LIVE_RUN := $(subst $(VENV),$(LIVE)/env,$(RUN))

# Lighthouse, which measures the built pages, is a Node program with a folder of its own; it brings axe-core.
LIGHTHOUSE := .lighthouse
LIGHTHOUSE_PACKAGE := lighthouse@12.8.2

.PHONY: help help-maintaining book live archive pdf downloads serve lab numbers notebooks sweep tables census sweep-language \
	trained-head trained-models bench \
	bench-site libraries links clean

help help-maintaining help-teaching:
	@awk -F ':.*##$(@:help%=%) ' '/^[a-z-]+:.*##$(@:help%=%) / {printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: $(VENV)/.site $(LIVE)/.tried ## build the site in _build/html
	$(BIN)/jupyter-book build -n -W --keep-going .
	@echo "Open $(CURDIR)/_build/html/index.html"

live: ##-maintaining fetch and pack the Python that pages run, which make book tries once
	$(PYTHON) -m venv $(LIVE)/env
	$(LIVE_RUN) -m pip download --disable-pip-version-check --quiet --no-deps --require-hashes \
		--dest $(LIVE) -r live/requirements.txt
	$(LIVE_RUN) tools/live.py

# What a site offers beside its pages.
archive: book ## the site as one zip that opens from a disk, linked on the site
	$(RUN) tools/downloads.py

pdf: book $(VENV)/.browser ## the book as a PDF, and its reference of functions as another, linked on the site
	$(RUN) tools/pdf.py

# The archive comes last, so that it holds the PDFs.
downloads: pdf ## the PDFs and the zip
	$(RUN) tools/downloads.py

serve: $(VENV)/.book ## preview in the browser that follows your edits
	$(BIN)/sphinx-autobuild -n --keep-going -c tools/preview --watch attnlib --watch attnbook --watch book --watch _ext \
		--ignore "$(CURDIR)/_build/*" --ignore "$(CURDIR)/.*" --ignore "$(CURDIR)/tests/*" \
		--ignore "$(CURDIR)/notebooks/*" \
		--re-ignore "__pycache__|\.ipynb_checkpoints" \
		--open-browser --port 0 . _build/preview

lab: $(VENV)/.book notebooks ## the notebooks in JupyterLab; ARGS=... for JupyterLab itself
	$(BIN)/jupyter-lab --ServerApp.root_dir="$(CURDIR)" $(AS_ROOT) $(ARGS) notebooks/index.ipynb

numbers: $(VENV)/.site ## run the notebooks, rewrite numbers that moved; ARGS=--check only says which
	$(RUN) -m book.numbers $(ARGS)

notebooks: $(VENV)/.site ## write the readers' notebooks in notebooks/, except those you worked in
	$(RUN) tools/reader.py

# The same threads for every process: results do not depend on how many run at a time.
sweep: $(VENV)/.site ##-maintaining train everything behind the table of the ablation anew, about half an hour
	OPENBLAS_NUM_THREADS=1 $(RUN) tools/sweep.py $(ARGS)

tables: $(VENV)/.site ## make the calls anew whose results chapters take from data/tables.json, a minute
	OPENBLAS_NUM_THREADS=1 $(RUN) tools/tables.py

census: $(VENV)/.site ##-maintaining read what the models of a release of transformers multiply by, minutes; ARGS=--newest compares
	@$(RUN) -m tools.census $(ARGS)

sweep-language: $(LANGUAGE)/.ready ##-maintaining train a small language model with every rule, an hour or two; ARGS=--check repeats two runs
	$(LANGUAGE_RUN) tools/sweep_language.py $(ARGS)

trained-head: $(LANGUAGE)/.ready ##-maintaining train the two models to look into, minutes; ARGS=--check repeats the beginning
	$(LANGUAGE_RUN) tools/trained_head.py $(ARGS)

# The wheels and an environment with PyTorch stay in _build, two gigabytes.
trained-models: $(VENV)/.site ##-maintaining measure attention in four published models, half an hour; ARGS="--only rxnmapper --check" compares
	@$(RUN) tools/trained_models.py $(ARGS)

# Agreement first: a fast wrong answer is worth nothing.
bench: $(BENCH)/.ready ##-maintaining time attnlib beside PyTorch and JAX; ARGS=--update puts it in the book
	$(BENCH_RUN) -m pytest -q -o addopts= --import-mode=importlib -p no:cacheprovider benchmarks
	$(BENCH_RUN) -m benchmarks $(ARGS)

# Nothing else should run meanwhile: Lighthouse reckons with the time that scripts take.
bench-site: $(VENV)/.browser $(LIGHTHOUSE)/.ready book ##-maintaining ask Lighthouse and axe about a few pages, or ARGS=...
	$(RUN) tools/bench_site.py $(ARGS)

links: $(VENV)/.site ##-maintaining ask whether the links that leave the book still lead somewhere
	$(BIN)/jupyter-book build --builder linkcheck .

# Environments of pinned releases come and go in a temporary folder; tinygrad needs clang.
libraries: $(VENV)/.site ##-maintaining ask other libraries how they compute attention, half an hour; ARGS="--only onnx --check" compares
	@$(RUN) tools/libraries.py $(ARGS)

clean: ## remove what was built; the environment stays
	$(PYTHON) -c "import shutil; shutil.rmtree('_build', ignore_errors=True)"

help-maintaining: ## list what measures, trains and asks anew, and what keeps versions

# The stamps say for which pins the environment was filled, so that a second run installs nothing.
# Python compiles what is used when it is first imported, which is less than half of what pip would.
$(VENV)/.site: requirements.txt pyproject.toml
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(VENV)
	$(RUN) -c $(SITE_NAMES) > $(VENV)/site.txt
	$(PIP) --no-compile -c requirements.txt -r $(VENV)/site.txt
	$(PIP) --no-deps -e .
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(VENV)/.book: $(VENV)/.site
	$(PIP) --no-compile -r requirements.txt
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(LIVE)/.tried: live/requirements.txt tools/live.py
	@mkdir -p $(LIVE)
	@$(MAKE) live || echo "The pages will run no Python, which could not be fetched; make live tries again."
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

# What drives a browser, writes PDFs and is no part of the site; the list of the tests has the versions.
$(VENV)/.browser: $(VENV)/.site requirements-dev.txt
	$(PIP) -c requirements-dev.txt pikepdf playwright pypdf
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(BENCH)/.ready: requirements-bench.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH_RUN) $(INSTALL) -r requirements-bench.txt
	$(BENCH_RUN) $(INSTALL) --no-deps -e .
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(LANGUAGE)/.ready: requirements-bench.txt
	$(PYTHON) -m venv $(LANGUAGE)
	$(LANGUAGE_RUN) $(INSTALL) --no-compile -c requirements-bench.txt torch numpy
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

# Nothing that is installed runs anything meanwhile.
$(LIGHTHOUSE)/.ready: Makefile
	@command -v npm > /dev/null || { echo "Node 18 or newer is needed, with npm"; exit 1; }
	npm install --prefix $(LIGHTHOUSE) --silent --ignore-scripts --no-audit --no-fund --no-package-lock $(LIGHTHOUSE_PACKAGE)
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

-include instructors.mk
