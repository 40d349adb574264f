# Needs Python 3.11 or later with pip, and make. Everything else goes into .venv.
#
# The stamp files in .venv remember what has been installed. They are older than
# pyproject.toml only after an edit there, so a second run installs nothing.

PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=
MINUTES ?= 10
SEED    ?= 0
# The build of PyTorch that the tests use: 200 MB, for the CPU. Without "+cpu" some indexes would
# send gigabytes for GPUs. Elsewhere: make test TORCH="torch --index-url ..."
TORCH   ?= torch==2.13.0+cpu

VENV := .venv
RUN  := $(VENV)/bin/python
PIP  := $(RUN) -m pip --disable-pip-version-check -q

# Another environment may be active in the caller's shell; ours must not see it.
unexport VIRTUAL_ENV
unexport PYTHONHOME
unexport PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help demo test test-all fuzz lint docs bench clean
.NOTPARALLEL:

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile

# Many small fits: a second BLAS thread gains nothing here, and on a busy computer the two wait for
# each other by spinning, which makes the demo many times slower.
demo: export OPENBLAS_NUM_THREADS := 1
demo: export OMP_NUM_THREADS := 1
demo: export MKL_NUM_THREADS := 1
demo: $(VENV)/.base  ## learn to read handwritten digits, and write demo/report.html
	@$(RUN) -m mercer.cli fit --out demo
	@echo
	@echo "Open demo/report.html in a browser."
	@echo "To see and touch the model: $(VENV)/bin/mercer explore demo/model.mercer"
	@echo "  (once before: $(RUN) -m pip install -e '.[explore]')"

# Each pytest worker is a process, and mercer brings its own threads, as many as the process may use
# cores. BLAS and OpenMP threads on top of them would wait for each other by spinning, on cores that
# the other worker needs. So those libraries get one thread each. A file stays with one worker, so
# that what it compiles is compiled once.
TEST = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 \
  $(RUN) -m pytest -n $(WORKERS) --dist loadfile

test: $(VENV)/.test  ## run tests and doctests, all but the slow ones (ARGS="-k ridge" to choose)
	@$(TEST) -m "not slow" $(ARGS)

test-all: $(VENV)/.test  ## run all of them (ARGS="-m slow" for the slow ones alone)
	@$(TEST) $(ARGS)

fuzz: $(VENV)/.test  ## let sixty digits judge random machines (MINUTES=10 SEED=0)
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	  $(RUN) -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

lint: $(VENV)/.test  ## check style and types
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy

# Pages are written by two processes; what they draw needs no BLAS threads of its own.
docs: export OPENBLAS_NUM_THREADS := 1
docs: export OMP_NUM_THREADS := 1
docs: export MPLBACKEND := Agg
docs: $(VENV)/.docs  ## build the site, build/site/index.html, with its gallery and API reference
	@$(RUN) docs/site/stage.py build/site-source
	@$(RUN) -m sphinx -b html -j 2 -W --keep-going -q build/site-source build/site
	@echo "Open build/site/index.html in a browser."

bench: $(VENV)/.base  ## measure speed and memory against scikit-learn and its like
	@$(PIP) install -r benchmarks/requirements.txt
	@$(RUN) -m benchmarks gram ridge import perceptron pca logistic svm usps

$(VENV)/.docs: $(VENV)/.test pyproject.toml
	@echo "Installing what the site needs (once)"
	@$(PIP) install -e '.[docs]'
	@touch $(VENV)/.base $(VENV)/.test $@

clean:  ## remove .venv and everything that can be made again
	rm -rf $(VENV) build demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Some systems ship venv without the pip inside; then the caller's pip installs one.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "mercer needs Python 3.11 or later, but '$(PYTHON)' is" \
	    "$$($(PYTHON) --version 2>&1 || true); try: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Making $(VENV)"
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then \
	  $(PYTHON) -m venv --clear $(VENV); \
	else \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(RUN) --disable-pip-version-check -q install pip; \
	fi
	@touch $@

$(VENV)/.base: $(VENV)/.made pyproject.toml
	@echo "Installing mercer (once)"
	@$(PIP) install -e .
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo "Installing mercer and what its tests need (once)"
	@$(PIP) install -e '.[test]'
	@$(PIP) install $(TORCH) 2>/dev/null || \
	  echo "No $(TORCH) at this index: the tests that need PyTorch will be skipped"
	@touch $(VENV)/.base $@
