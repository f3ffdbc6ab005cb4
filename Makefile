# What a person types: `make demo` to try it, `make test` for everything that is checked. Nothing here needs an account.

VENV   := .venv
PY     := $(VENV)/bin/python
HOST   ?=
PORT   ?=
ARGS   ?=
SERVE  := $(if $(HOST),--host $(HOST)) $(if $(PORT),--port $(PORT)) $(ARGS)
BROWSER := command -v chromium || command -v chromium-browser || command -v google-chrome

.DEFAULT_GOAL := help
.PHONY: help demo test check bench clean

help:  ## What there is to type
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

demo: $(VENV)/.demo  ## Start Keryx with a demo agent; PORT=8081 for another port
	@exec $(VENV)/bin/keryx serve --demo $(SERVE)

test: check  ## Everything that is checked: lint, types, tests
	@{ $(BROWSER); } >/dev/null || echo "There is no Chromium here: the browser part of the tests is skipped (apt install chromium)."
	$(PY) -m pytest -n 2 --dist loadfile $(ARGS)

check: $(VENV)/.dev  ## Lint and types only
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/pyright

bench: $(VENV)/.dev  ## How fast it talks, on this machine
	$(PY) -m tests.bench.talk $(ARGS)

clean:  ## Remove what make made
	rm -rf $(VENV) dist .pytest_cache .ruff_cache .hypothesis keryx.egg-info

# A stamp for each set of packages, renewed when pyproject.toml asks for others. The editable install needs no renewal
# when the code changes.
$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Keryx with its voice (about 400 MB, once) ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Keryx with what its tests need ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/bin/python:
	@sh deploy/venv.sh $(VENV)
