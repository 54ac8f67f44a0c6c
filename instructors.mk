# What the Makefile has for those who teach with the book or change it. Students do not get it.

# `make lock UPGRADE=--upgrade` takes the newest versions; without it, pins that still fit stay.
UPGRADE ?=
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header \
	--no-annotate --no-emit-index-url $(UPGRADE)

# The tests run where everything is that they test. JupyterLab would show the grader's menus there.
TEST := .venv-test
TEST_BIN := $(subst $(VENV),$(TEST),$(BIN))
TEST_RUN := $(subst $(VENV),$(TEST),$(RUN))

# The instructor's side, which no reader needs, has an environment of its own.
GRADING := .venv-grading
GRADING_RUN := $(subst $(VENV),$(GRADING),$(RUN))

# The book by Sphinx alone, every package as new as can be: no list pins them.
SPHINX := .venv-sphinx
SPHINX_RUN := $(subst $(VENV),$(SPHINX),$(RUN))

.PHONY: help-teaching test prove chapter sizes sphinx lint format lock students question problem-sets example grade grade-student grades-export \
	feedback-zips formgrader grade-scheduler grade-worker similarity items

test: $(TEST)/.ready $(LIVE)/.tried ## the tests for each commit, in minutes, the book's own cells included
	@$(TEST_RUN) tools/run_tests.py $(ARGS)

prove: $(TEST)/.ready $(LIVE)/.tried ## the long proofs: ARGS=GROUP for one, ARGS=--due for what has changed
	@$(TEST_RUN) -m tests.proofs $(ARGS)

chapter: export CHAPTER_NAME = $(NAME)
chapter: export CHAPTER_AFTER = $(AFTER)
chapter: $(TEST)/.ready ## begin a chapter: NAME=..., and AFTER=... to say where
	@$(TEST_RUN) tools/chapter.py "$$CHAPTER_NAME" "$$CHAPTER_AFTER"

sizes: $(VENV)/.site ##-maintaining how large the book is: program, tests, cells, imports
	@$(RUN) tools/sizes.py

lint: $(TEST)/.ready ## check code and notebooks
	$(TEST_BIN)/ruff check .
	$(TEST_BIN)/ruff format --check .
	$(TEST_RUN) tools/notebooks.py check

format: $(TEST)/.ready ## mend what can be mended by itself
	$(TEST_BIN)/ruff check --fix .
	$(TEST_BIN)/ruff format .

lock: $(VENV)/.book ##-maintaining write the pinned versions anew
	$(PIP) uv
	$(COMPILE) --extra all --group book -o requirements.txt pyproject.toml
	$(COMPILE) --extra all --group reader -c requirements.txt -o .binder/requirements.txt pyproject.toml
	$(COMPILE) --group grading -c requirements.txt -o requirements-grading.txt pyproject.toml
	$(COMPILE) --extra all --group test -c requirements.txt -o requirements-dev.txt pyproject.toml
	$(COMPILE) --group package -c requirements-dev.txt -o requirements-package.txt pyproject.toml
	# without what PyTorch takes for graphics cards: builds for the processor do not ask for it
	$(COMPILE) --group bench -c requirements.txt -o requirements-bench.txt pyproject.toml
	sed -i.all -E '/^(cuda|nvidia|triton)/d' requirements-bench.txt && rm requirements-bench.txt.all

sphinx: $(VENV)/.site $(SPHINX)/.ready ##-maintaining build the site with the newest Sphinx and without Jupyter Book: _build/sphinx
	$(BIN)/jupyter-book config sphinx .
	$(RUN) tools/plain_sphinx.py
	$(SPHINX_RUN) -m sphinx -n -W --keep-going -q . _build/sphinx

# What students get who are to run the book, and not to read the solutions of problem sets.
students: export STUDENTS_OUT = $(OUT)
students: $(VENV)/.site ##-teaching write a copy of the repository without grading and tests: OUT=...
	@$(RUN) tools/students.py "$$STUDENTS_OUT"

question: export QUESTION_FROM = $(FROM)
question: export QUESTION_NAME = $(NAME)
question: $(VENV)/.site ##-teaching begin a problem set with an exercise of the book: FROM=spread NAME=...
	@$(RUN) tools/question.py "$$QUESTION_FROM" "$$QUESTION_NAME"

problem-sets: $(GRADING)/.ready ##-teaching write the problem sets as students get them to grading/release
	$(GRADING_RUN) -m grading problem-sets

example: $(GRADING)/.ready ##-teaching write what six invented students hand in to _build/class, to try the grader
	$(GRADING_RUN) -m grading example

# A value on the command line reaches the grader as it is, spaces and all.
grade grades-export feedback-zips: export GRADE_OUT = $(OUT)
grade grades-export feedback-zips: export GRADE_ROSTER = $(ROSTER)
grade grades-export feedback-zips: export GRADE_DB = $(DB)
grade: export GRADE_SUBMISSIONS = $(SUBMISSIONS)
grade: export GRADE_SCHEDULER = $(SCHEDULER)
grade: export GRADE_WORKERS = $(WORKERS)
grade grades-export feedback-zips: export GRADE_ASSIGNMENT = $(ASSIGNMENT)
grade: export GRADE_ACCEPT = $(ACCEPT)
grade: export GRADE_REMARK = $(REMARK)
# marking is for several processes, not threads
grade: export OPENBLAS_NUM_THREADS := 1
grade: $(GRADING)/.ready ##-teaching mark what students handed in: SUBMISSIONS=... ROSTER=... OUT=...
	@$(GRADING_RUN) -m grading grade $(ARGS)

grades-export: $(GRADING)/.ready ##-teaching write the marks in OUT=... for Canvas and Moodle
	@$(GRADING_RUN) -m grading export $(ARGS)

feedback-zips: $(GRADING)/.ready ##-teaching write the pages for students as zips for Canvas and Moodle: ROSTER=... OUT=...
	@$(GRADING_RUN) -m grading feedback-zips $(ARGS)

grade-student: export GRADE_OUT = $(OUT)
grade-student: export GRADE_DB = $(DB)
grade-student: export GRADE_STUDENT = $(STUDENT)
grade-student: export GRADE_INTO = $(INTO)
grade-student: $(GRADING)/.ready ##-teaching take a student back, or merge two: OUT=... STUDENT=... INTO=...
	@$(GRADING_RUN) -m grading student $(ARGS)

# JupyterLab with nbgrader's formgrader, in the folder where make grade has put its results.
formgrader: export GRADE_OUT = $(OUT)
formgrader: $(GRADING)/.ready ##-teaching mark paragraphs by hand in a browser: OUT=...
	@$(GRADING_RUN) -m grading formgrader $(ARGS)

grade-scheduler grade-worker: export DASK_CONFIG := grading/marking/dask.yaml
grade-scheduler: $(GRADING)/.ready ##-teaching for large courses: give work to each grade-worker
	$(GRADING_RUN) -m distributed.cli.dask_scheduler --port 8786 $(ARGS)

grade-worker: $(GRADING)/.ready ##-teaching mark on one more machine: SCHEDULER=...
	$(GRADING_RUN) -m distributed.cli.dask_worker $(SCHEDULER) --nthreads 1 --nworkers $(or $(WORKERS),auto) $(ARGS)

similarity items: export GRADE_OUT = $(OUT)
similarity items: export GRADE_ASSIGNMENT = $(ASSIGNMENT)
items: export GRADE_DB = $(DB)
similarity: $(GRADING)/.ready ##-teaching find pairs of submissions that are alike, for a person to look at: OUT=...
	@$(GRADING_RUN) -m grading similarity $(ARGS)

items: $(GRADING)/.ready ##-teaching say which questions are hard, and which key looks wrong: OUT=...
	@$(GRADING_RUN) -m grading items $(ARGS)

help-teaching: ## list what a course takes: problem sets, marks, reports

$(TEST)/.ready: requirements-dev.txt pyproject.toml
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(TEST)
	$(TEST_RUN) $(INSTALL) -r requirements-dev.txt
	$(TEST_RUN) $(INSTALL) --no-deps -e .
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

# The newest Python that the pins allow, unless one is named: what students' Pythons can, it can.
$(GRADING)/.ready: requirements-grading.txt
	@$(NEW_ENOUGH)
	$(PYTHON) tools/grading_python.py $(GRADING) $(if $(filter file,$(origin PYTHON)),,--this)
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"

$(SPHINX)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SPHINX)
	$(SPHINX_RUN) $(INSTALL) "pip>=25.1"
	$(SPHINX_RUN) $(INSTALL) --group sphinx -e ".[all]"
	@$(PYTHON) -c "import pathlib; pathlib.Path('$@').touch()"
