# `make help` lists what there is. Each command makes its own environment in .venv first.
# not for students: start
# Two are enough: `make book` builds the site, `make test` checks everything.
# not for students: end

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
RUN := $(BIN)/python
PIP := $(RUN) -m pip install --disable-pip-version-check --quiet
# not for students: start
# `make lock UPGRADE=--upgrade` takes the newest versions; without it, pins that still fit stay.
UPGRADE ?=
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header \
	--no-annotate --no-emit-index-url $(UPGRADE)
# not for students: end

# Peers of the benchmark, which no reader needs, have an environment of their own.
BENCH := .venv-bench
BENCH_RUN := $(subst $(VENV),$(BENCH),$(RUN))

# Lighthouse, which measures the built pages, is a Node program with a folder of its own.
LIGHTHOUSE := .lighthouse

# not for students: start
# The instructor's side, which no reader needs either.
GRADING := .venv-grading
GRADING_RUN := $(subst $(VENV),$(GRADING),$(RUN))

# What makes a package of attnlib, pinned like the rest.
RELEASE := .venv-release
RELEASE_RUN := $(subst $(VENV),$(RELEASE),$(RUN))
# not for students: end

.PHONY: help book slides serve lab notebooks practice bench bench-figures sweep bench-site links clean
# not for students: start
.PHONY: test test-quick lint format lock bench-grading release-check release students grade grades-export \
	formgrader grade-scheduler grade-worker
# not for students: end

help:
	@echo "make book       build the site in _build/html"
# not for students: start
	@echo "make test       run every test, the book's own cells included"
	@echo "make test-quick the mathematics and the texts alone: no site, no browser, no grader"
# not for students: end
	@echo "make archive    the site as one zip that opens from a disk, linked on the site"
	@echo "make pdf        the book as one PDF, linked on the site; make downloads does both"
	@echo "make slides     write the plots with their captions as pictures for slides: OUT=..."
	@echo "make serve      preview in the browser that follows your edits"
	@echo "make lab        JupyterLab on the chapters"
	@echo "make notebooks  execute every notebook in place"
	@echo "make practice   write the practice notebooks anew from the chapters' exercises"
	@echo "make colab      write the notebooks for Colab anew from the chapters"
# not for students: start
	@echo "make students   write a copy of the repository without grading and tests: OUT=..."
	@echo "make release    write the problem sets as students get them to grading/release"
	@echo "make grade      mark what students handed in: SUBMISSIONS=... ROSTER=... OUT=..."
	@echo "make formgrader mark paragraphs by hand in a browser: OUT=..."
	@echo "make grades-export  write the marks in OUT=... for Canvas and Moodle"
	@echo "make lint       check code and notebooks; make format mends what it can"
	@echo "make lock       write the pinned versions anew"
# not for students: end
	@echo "make bench      time attnlib against PyTorch and JAX, then the figures that move, then the"
	@echo "                site in Lighthouse, which bench-figures and bench-site do alone;"
	@echo "                ARGS=--update puts the results into the book"
# not for students: start
	@echo "                bench-grading, which comes last, times marking beside plain nbgrader"
# not for students: end
	@echo "make sweep      train everything behind the table of the ablation anew, about a quarter hour"
	@echo "make links      ask whether the links that leave the built book still lead somewhere"
# not for students: start
	@echo "make release-check  build the package and try it where nothing else is installed"
# not for students: end
	@echo "make clean      remove what was built; the environment stays"

book: $(VENV)/.book
	$(BIN)/jupyter-book build -n -W --keep-going .
	@echo "Open $(CURDIR)/_build/html/index.html"

# not for students: start
test: $(VENV)/.test
	@$(RUN) tools/run_tests.py $(ARGS)

test-quick: $(VENV)/.test
	@$(RUN) tools/run_tests.py --quick $(ARGS)
# not for students: end

serve: $(VENV)/.book
	$(BIN)/sphinx-autobuild -n --keep-going -c tools/preview --watch attnlib --watch _ext \
		--ignore "$(CURDIR)/_build/*" --ignore "$(CURDIR)/.*" --ignore "$(CURDIR)/tests/*" \
		--re-ignore "__pycache__|\.ipynb_checkpoints" \
		--open-browser --port 0 . _build/preview

# What a site offers beside its pages.
.PHONY: archive pdf downloads colab
archive: book
	$(RUN) tools/downloads.py

pdf: book $(VENV)/.test
	$(RUN) tools/pdf.py

# The archive comes last, so that it holds the PDF.
downloads: pdf
	$(RUN) tools/downloads.py

slides: export SLIDES_OUT = $(OUT)
slides: book
	@$(RUN) tools/slides.py "$$SLIDES_OUT"

lab: $(VENV)/.book
	$(BIN)/jupyter-lab --ServerApp.root_dir="$(CURDIR)" chapters/01_puzzle.ipynb

notebooks: $(VENV)/.book
	$(RUN) tools/notebooks.py execute

practice: $(VENV)/.book
	$(RUN) tools/practice.py

colab: $(VENV)/.book
	$(RUN) tools/colab.py

# not for students: start
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(RUN) tools/notebooks.py check

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
# not for students: end

# The same threads for every process: results do not depend on how many run at a time.
sweep: $(VENV)/.book
	OPENBLAS_NUM_THREADS=1 $(RUN) tools/sweep.py $(ARGS)

# Agreement first: a fast wrong answer is worth nothing.
bench: $(BENCH)/.ready
	$(BENCH_RUN) -m pytest -q -o addopts= --import-mode=importlib -p no:cacheprovider benchmarks
	$(BENCH_RUN) -m benchmarks $(ARGS)
	$(MAKE) bench-figures
	$(MAKE) bench-site
# not for students: start
	$(MAKE) bench-grading
# not for students: end

# not for students: start
# Nothing else should run meanwhile: it goes by the time that the whole machine is at work.
bench-grading: $(GRADING)/.ready
	$(GRADING_RUN) -m benchmarks.grading $(filter --quick --update,$(ARGS))
# not for students: end

bench-figures: $(VENV)/.test book
	$(RUN) -m benchmarks.figures $(filter --quick --update,$(ARGS))

# Nothing else should run meanwhile: Lighthouse reckons with the time that scripts take.
bench-site: $(VENV)/.test $(LIGHTHOUSE)/.ready book
	$(RUN) -m benchmarks.site $(filter --quick --update --build --only %.html,$(ARGS))

links: book
	$(RUN) tools/links.py _build/html

# not for students: start
# What somebody who installs attnlib alone gets.
release-check: $(RELEASE)/.ready
	$(RELEASE_RUN) tools/release_check.py

# What students get who are to run the book, and not to read the solutions of problem sets.
students: export STUDENTS_OUT = $(OUT)
students: $(VENV)/.book
	@$(RUN) tools/students.py "$$STUDENTS_OUT"

release: $(GRADING)/.ready
	$(GRADING_RUN) -m grading release

# What stands behind a name on the command line reaches the grader as it is, spaces and all.
grade: export GRADE_SUBMISSIONS = $(SUBMISSIONS)
grade: export GRADE_OUT = $(OUT)
grade: export GRADE_ROSTER = $(ROSTER)
grade: export GRADE_DB = $(DB)
grade: export GRADE_SCHEDULER = $(SCHEDULER)
grade: export GRADE_WORKERS = $(WORKERS)
grade: export GRADE_ASSIGNMENT = $(ASSIGNMENT)
grade: export GRADE_ACCEPT = $(ACCEPT)
grade: $(GRADING)/.ready
	@$(GRADING_RUN) -m grading grade $(ARGS)

grades-export: export GRADE_OUT = $(OUT)
grades-export: export GRADE_ROSTER = $(ROSTER)
grades-export: export GRADE_DB = $(DB)
grades-export: $(GRADING)/.ready
	@$(GRADING_RUN) -m grading export $(ARGS)

# JupyterLab with nbgrader's formgrader, in the folder where make grade has put its results.
formgrader: $(GRADING)/.ready
	@$(GRADING_RUN) -c "import os, sys; sys.exit(not os.path.exists(os.path.join(sys.argv[1], 'nbgrader_config.py')) and 'OUT must be a folder that make grade has filled')" "$(OUT)"
	cd "$(OUT)" && "$(abspath $(GRADING_RUN))" -m jupyter lab $(ARGS)

grade-scheduler: $(GRADING)/.ready
	$(GRADING_RUN) -m distributed.cli.dask_scheduler --port 8786 $(ARGS)

grade-worker: $(GRADING)/.ready
	$(GRADING_RUN) -m distributed.cli.dask_worker $(SCHEDULER) --nthreads 1 --nworkers $(or $(WORKERS),auto) $(ARGS)

lock: $(VENV)/.book
	$(PIP) uv
	$(COMPILE) --extra book -o requirements.txt pyproject.toml
	$(COMPILE) --extra grading -c requirements.txt -o requirements-grading.txt pyproject.toml
	$(COMPILE) --extra book --extra test --extra grading -c requirements.txt \
		-o requirements-dev.txt pyproject.toml
	$(COMPILE) --extra release -c requirements-dev.txt -o requirements-release.txt pyproject.toml
	# without what PyTorch takes for graphics cards: builds for the processor do not ask for it
	$(COMPILE) --extra bench -c requirements.txt pyproject.toml \
		| grep -vE '^(cuda|nvidia|triton)' > requirements-bench.txt
# not for students: end

clean:
	$(PYTHON) -c "import shutil; shutil.rmtree('_build', ignore_errors=True)"

# The stamps say for which pins the environment was filled, so that a second run installs nothing.
$(VENV)/.book: requirements.txt pyproject.toml
	@$(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('Python 3.11 or newer is needed, and $(PYTHON) is ' + sys.version.split()[0] + '. Name another one: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	$(PIP) --no-deps -e .
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(VENV)/.test: $(VENV)/.book requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(BENCH)/.ready: requirements-bench.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH_RUN) -m pip install --disable-pip-version-check --quiet -r requirements-bench.txt
	$(BENCH_RUN) -m pip install --disable-pip-version-check --quiet --no-deps -e .
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(LIGHTHOUSE)/.ready: benchmarks/lighthouse/package.json benchmarks/lighthouse/package-lock.json
	@command -v npm > /dev/null || { echo "Node 18 or newer is needed, with npm"; exit 1; }
	mkdir -p $(LIGHTHOUSE)
	cp benchmarks/lighthouse/package.json benchmarks/lighthouse/package-lock.json \
		benchmarks/lighthouse/.npmrc $(LIGHTHOUSE)
	cd $(LIGHTHOUSE) && npm ci --silent
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

# not for students: start
$(GRADING)/.ready: requirements-grading.txt
	$(PYTHON) -m venv $(GRADING)
	$(GRADING_RUN) -m pip install --disable-pip-version-check --quiet -r requirements-grading.txt
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(RELEASE)/.ready: requirements-release.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE_RUN) -m pip install --disable-pip-version-check --quiet -r requirements-release.txt
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"
# not for students: end
