# Works with GNU make 3.81 (macOS) and newer. `make` alone lists the commands.

VENV ?= .venv
PYTHON ?=
ONLY ?=
TESTS ?=
OUT ?= build/bench
SITE ?= build/site
SERVE ?=
REPO ?=
BRANCH ?= main

BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
PYTEST = PYTHONDONTWRITEBYTECODE= PYTHONPATH="$(CURDIR)/tests/quick_start" $(BIN)/python -m pytest -n auto --dist loadgroup --max-worker-restart=0
ALLOW_ROOT = `test "$$(id -u)" = 0 && echo --allow-root`

.DEFAULT_GOAL := help
.PHONY: help lab test wide weekly hub check notebooks exercises slides cards hunts lint format bench elsewhere site links test-latest lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

lab: $(STAMP) ## open JupyterLab at the tour
	$(BIN)/python -m jupyterlab $(ALLOW_ROOT) --ServerApp.root_dir="$(CURDIR)" --KernelManager.transport_encryption=auto \
		--LabApp.default_url=/lab/tree/notebooks/00_tour.ipynb $(LAB_ARGS)

test: $(STAMP) ## units, guards, lint, types, every notebook cell; in the browser two lessons and the desk
	$(PYTEST) -m "not wide and not weekly and not hub" $(TESTS)

wide: $(STAMP) ## all lessons by nbval, in the browser and on the site, and the packages as they are released
	$(PYTEST) --durations 20 --durations-min 30 -m "wide and not weekly" $(TESTS)

weekly: $(STAMP) ## other clients and front ends, Colab, long walks, many kills, all random examples
	-sh elsewhere/environments.sh
	$(PYTEST) --hypothesis-profile all -m "weekly or random" $(TESTS)

hub: $(STAMP) ## a real JupyterHub in an environment of its own, and three learners at once; prints memory and seconds
	$(PYTEST) -n 0 -rP -m hub $(TESTS)

check: $(STAMP) ## the quick round, about a minute: a sample, no kernels, no browser; lint and types beside it
	@mkdir -p build
	@$(MAKE) --no-print-directory lint > build/lint.txt 2>&1 & linted=$$!; \
	$(PYTEST) --hypothesis-profile quick -m "not notebooks and not browser and not slow and not wide and not weekly and not hub" $(TESTS); tested=$$?; \
	wait $$linted; said=$$?; cat build/lint.txt; exit $$((tested + said))

notebooks: $(STAMP) ## format, run and rewrite the notebooks (ONLY=01 for some)
	$(BIN)/python .ci/notebooks.py $(ONLY)
	$(BIN)/python .ci/picture.py

exercises: $(STAMP) ## make the student and solution notebooks from exercises/authors/source
	$(BIN)/python -m exercises.authors.generate

slides: $(STAMP) ## write the lessons as slides and handouts to build/slides (ONLY=03 for some)
	$(BIN)/python -m exercises.teachers.slides $(ONLY)

cards: $(STAMP) ## write the interview cards for Anki to build/cards.txt
	@mkdir -p build
	$(BIN)/python -m exercises.interview.cards --anki build/cards.txt

hunts: $(STAMP) ## list the bug hunts and which of them are solved
	@$(BIN)/python -m exercises.hunts

lint: $(STAMP) ## ruff over code and notebooks, mypy --strict over all packages
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy --strict

format: $(STAMP) ## let ruff format code and notebooks
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: $(STAMP) ## compare with plain asyncio, threads and LangGraph; measure growth (OUT names a folder)
	$(BIN)/python -m tests.bench --out $(OUT)

elsewhere: $(STAMP) ## the release on five other frameworks: their environments, the suite, and what lesson 15 reads
	sh elsewhere/environments.sh
	$(BIN)/python -m elsewhere
	$(BIN)/python -m elsewhere.record --replays

site: $(STAMP) ## build the site: lessons in a browser tab, pages to read (SERVE=1 opens it; REPO=owner/name)
	$(BIN)/python .ci/site/build.py $(SITE) $(if $(REPO),--repo="$(REPO)")
	$(if $(SERVE),(sleep 1; $(BIN)/python -m webbrowser http://127.0.0.1:8765) & $(BIN)/python -m http.server 8765 --bind 127.0.0.1 --directory $(SITE))

links: $(STAMP) ## write colab/, the lessons for Google Colab, and the badges of the README (REPO=owner/name, BRANCH=main)
	$(BIN)/python .ci/links.py --branch="$(BRANCH)" -- "$(REPO)"

test-latest: ## the tests on the newest allowed versions, figures compared by their text
	PYTHON="$(PYTHON)" sh .ci/environment .venv-latest latest
	PLANEXEC_COMPARE=text .venv-latest/bin/python -m pytest -n 2 --dist loadgroup --max-worker-restart=0 --hypothesis-profile all -m "not hub" $(TESTS)

lock: $(STAMP) ## pin the newest allowed versions in requirements.lock (needs uv)
	sh .ci/lock

clean: ## remove the environments and caches
	rm -rf .venv .venv-latest .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -o -name .ipynb_checkpoints -o -name '*.egg-info' | xargs rm -rf

$(STAMP): requirements.lock pyproject.toml distributions/mock-llm/pyproject.toml distributions/planexec-lab/pyproject.toml .ci/environment \
	planexec_lab/views/labextension/static/remoteEntry.js
	PYTHON="$(PYTHON)" sh .ci/environment $(VENV) locked
	@touch $@
