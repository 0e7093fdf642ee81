# Harmonia: `make demo` and `make test` are all a reader needs; `make check` is what CI runs, exactly.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
VENV := $(TARGET)/venv
TOOLS := $(TARGET)/tools
BROWSER_VENV := $(TARGET)/browser
SITE_VENV := $(TARGET)/site-venv
CHROMIUM ?= $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name) 2> /dev/null)))
# Where `cargo install` puts the command.
BIN := $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)/bin
FUZZ_SECONDS ?= 600
# Of every parser in `make check`.
SHORT_FUZZ ?= 2
# Parsers to fuzz: folders of fuzz/seeds.
FUZZ_ONLY ?= $(notdir $(wildcard fuzz/seeds/*))
SWARM ?= 100000
OPERATIONS ?= 1000000000
SEED ?= 1
MUTANTS ?= 300

# Nothing is built twice by these targets: what a next build could use costs a fifth more time and gigabytes.
export CARGO_INCREMENTAL ?= 0

.PHONY: help demo test simulations check whole nightly times bench peers wheels fuzz swarm torture histories calibrations mutants docs plain-write plain-write-check reproduce drives drives-kept predictions redundancy ladder behind years relocation rebuilding sensitivity findings clean \
	prerequisites prerequisites-python prerequisites-browser browser fmt clippy rustdoc examples python newcomer links prose site site-test \
	judgement judgement-long advice advice-long screens coverage demonstration command fuzz-one

help:
	@echo 'make demo    install the harmonia command and compare coordination policies (writes demo/report.html)'
	@echo 'make test    all tests of the Rust code, but for long simulations'
	@echo 'make simulations  the tests that simulate for long'
	@echo 'make check   everything CI runs: format, lints, docs, tests, examples, Python, the page in a browser, newcomer, demo, fuzzing'
	@echo '             (HARMONIA_CHECK=all: also what the changed files cannot have broken, see tests/changed.py)'
	@echo 'make whole   make check with every step, of what is committed; then .ci/whole names that commit'
	@echo 'make nightly everything, and long forms of it: a night; goes on where it was stopped'
	@echo 'make times   processor time of every step of make check, by crate and by program (below target/times, a clean build)'
	@echo 'make wheels  wheels that need no Rust, below target/wheels (x86-64, and aarch64 where its Rust target is installed)'
	@echo 'make bench   speed as ratios to a bare FTL measured in the same run (writes docs/performance.md); tables and policies in Python'
	@echo 'make peers   results and speed beside DiskSim and MQSim (DISKSIM=FILE MQSIM=FILE; PEERS=results or speed; FULL=1: speed at full size)'
	@echo 'make fuzz    $(FUZZ_SECONDS) s of fuzzing per target (FUZZ_SECONDS=...)'
	@echo 'make swarm   $(SWARM) random small scenarios (SWARM=...)'
	@echo 'make judgement  40 small comparisons: a winner is named where there is one, and none where a run cannot show it (LONG=--long: against long runs)'
	@echo 'make advice  advice on two arrays, five seeds each, is what long runs say (ADVICE=--all: on all eight)'
	@echo 'make coverage  how often confidence intervals hold the truth, and how often equals get a winner (a quarter of an hour)'
	@echo 'make torture  $(OPERATIONS) page operations on random arrays, all contents compared (OPERATIONS=... SEED=...)'
	@echo 'make histories  thousands of random histories of gaftl, all contents compared (about ten minutes)'
	@echo 'make calibrations  ten simulated drives, calibrated from files alone (four minutes)'
	@echo 'make mutants  $(MUTANTS) planted bugs, each tested by its own crate: how many live? (MUTANTS=... SEED=... PACKAGE=harmonia-ssd; goes on where it was stopped)'
	@echo 'make docs    write the generated pages of docs/'
	@echo 'make plain-write  write the table in ARCHITECTURE.md of the files that a plain write enters: none of an option (needs valgrind)'
	@echo 'make site    a site of the documentation with a search, below target/site'
	@echo 'make drives     hold presets of named drives against measurements (five minutes on two idle cores)'
	@echo 'make predictions  what the presets say of loads that were not seen: docs/predictions.md (ten minutes of processor time)'
	@echo 'make reproduce  run every experiment behind docs/findings.md (three quarters of an hour on two idle cores; goes on where it was stopped)'
	@echo 'make sensitivity  run the sweeps of adaptive collection (thresholds, channels at most) and print their tables'
	@echo 'make redundancy  seven coordination policies on RAID-0, 10, 5 and 6, as in docs/redundancy.md (TRACE=FILE TIME_SCALE=S adds a trace)'
	@echo 'make ladder  schemes of every rung of what members reveal on RAID-5 and RAID-6 (TRACE1=FILE SCALE1=S TRACE2=FILE SCALE2=S add traces; at most two hours)'
	@echo 'make behind  collection and coordination behind the write caches of six drives of one kind; writes the tables of docs/behind-the-cache.md (TRACE1=FILE TRACE2=FILE add traces; a quarter of an hour, and as much for each trace)'
	@echo 'make years   what schemes cost in years of drives on RAID-5; writes docs/latency-and-lifetime.md (TRACE1=FILE SCALE1=S TRACE2=FILE SCALE2=S add traces; a quarter of an hour of processor time)'
	@echo 'make relocation  GAFTL beside collection in turn with NVRAM on chips and on SSDs, as in result 9 of docs/knowing.md (TRACE1, SCALE1 and so on add traces; about forty minutes)'
	@echo 'make rebuilding  schemes while a member is missing or rebuilt, on RAID-5 and RAID-6 (about ten minutes)'
	@echo 'make findings  write docs/findings.md and its figures from experiments/results.json.zst'
	@echo 'make clean   remove what was built'

DEMO_POLICIES := local,reactive-inclusive,reactive-selective,ideal
demo: prerequisites
	cargo install --path crates/cli --locked --force --quiet
	"$(BIN)/harmonia" compare hpc-w --policies $(DEMO_POLICIES) --out demo
	@case ":$$PATH:" in \
	*":$(BIN):"*) echo 'The harmonia command works from any folder.' ;; \
	*) echo 'To use harmonia from any folder: export PATH="$(BIN):$$PATH"' ;; \
	esac
	@echo "Look at it: file://$(CURDIR)/demo/report.html"

# The demo on drives of an eighth of the size, with the command that the tests have built. `make nightly` runs the whole of it.
demonstration: command
	XDG_CACHE_HOME=$(TARGET)/cache $(COMMAND) compare hpc-w --policies $(DEMO_POLICIES) --set ssd.geometry.blocks_per_plane=64 \
		--quiet --out $(TARGET)/demonstration > /dev/null
	@test -s $(TARGET)/demonstration/report.html

# Without examples: `make clippy` checks them, and building them takes a minute.
test: prerequisites
	cargo test --locked --lib --bins --tests
	cargo test --locked --doc

# Tests that simulate for long; they are marked `#[ignore = "long: make simulations"]`.
simulations: prerequisites
	cargo test --locked --lib --test all --test contents --test hidden --test registry -- --ignored --skip ten_drives_are_found --skip in_many_histories

STEPS := fmt links prose clippy rustdoc test simulations examples
# Two of these rows run at once: the longest first, and one that builds in target/debug beside none that does.
ROWS := fuzz python,judgement,advice,demonstration browser,site-test newcomer
comma := ,
ALL_STEPS := $(STEPS) $(subst $(comma), ,$(ROWS))

# tests/changed.py says which steps only some changes can break. The first failure is the last thing printed.
check: prerequisites prerequisites-python prerequisites-browser
	@FUZZ_SECONDS=$(SHORT_FUZZ) python3 tests/steps.py $(STEPS) -- $(ROWS)

# Steps may be left out as long as nothing they depend on differs from the commit that this names.
whole:
	@if [ -n "$$(git status --porcelain)" ]; then echo 'whole: commit first: .ci/whole names a commit'; exit 1; fi
	HARMONIA_CHECK=all $(MAKE) --no-print-directory check
	git rev-parse HEAD > .ci/whole

# What passed is kept by commit, so that a night that was stopped goes on.
NIGHTS := check demo judgement-long advice-long screens coverage drives-kept plain-write-check swarm torture histories calibrations fuzz mutants
nightly: prerequisites prerequisites-python prerequisites-browser
	@if [ -n "$$(git status --porcelain)" ]; then echo 'nightly: commit first: what passed is kept by commit'; exit 1; fi; \
	passed=$(TARGET)/nightly/$$(git rev-parse HEAD); mkdir -p "$$passed"; \
	for step in $(NIGHTS); do \
		if [ -e "$$passed/$$step" ]; then echo "== $$step: passed before"; continue; fi; \
		echo "== $$step ($$SECONDS s)"; \
		HARMONIA_CHECK=all $(MAKE) --no-print-directory "$$step"; touch "$$passed/$$step"; \
	done
	@echo 'nightly: all passed'

# Into a folder of its own, from nothing.
times: prerequisites prerequisites-python prerequisites-browser
	rm -rf $(TARGET)/times
	CARGO_TARGET_DIR=$(TARGET)/times/target python3 tests/times.py $(TARGET)/times $(filter-out fuzz,$(ALL_STEPS)) "fuzz FUZZ_SECONDS=$(SHORT_FUZZ)"

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --workspace --all-targets --locked -- -D warnings

rustdoc:
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked

# The command as its tests use it. `cargo build -p harmonia-cli` would compile half the tree anew, with other features of libraries.
# A copy, because `make newcomer` builds another command in the same place.
COMMAND := $(TARGET)/command/harmonia
command: prerequisites
	@cargo test --quiet --locked --no-run --test command
	@mkdir -p $(dir $(COMMAND)) && cp $(TARGET)/debug/harmonia $(COMMAND)

# Every built-in scenario is validated; the small ones run, and two of the others on small drives. `make demo` runs a big one.
examples: prerequisites-python command
	@export XDG_CACHE_HOME=$(TARGET)/cache; trace=fuzz/seeds/msr_reader/rows.csv; \
	harmonia() { $(COMMAND) "$$@"; }; \
	for scenario in examples/*.toml; do \
		echo "check $$scenario"; \
		extra=(); if grep -q 'kind = "trace"' "$$scenario"; then extra=(--trace $$trace --set workload.warmup=0); fi; \
		harmonia check "$$scenario" "$${extra[@]}" > /dev/null; \
	done; \
	harmonia run tiny --checked > /dev/null; \
	harmonia run mongodb-like --set workload.requests=5000 --set ssd.geometry.blocks_per_plane=64 > /dev/null; \
	harmonia compare tiny --set array.devices=2,4 --json > /dev/null; \
	for sweep in examples/sweeps/*.toml; do \
		harmonia sweep "$$sweep" --out $(TARGET)/sweep > /dev/null; \
	done; \
	harmonia run msr-trace --trace $$trace --set ssd.preset=tiny-test > /dev/null; \
	harmonia run raid6-trace --trace $$trace --set ssd.preset=tiny-test > /dev/null; \
	harmonia compare tiny --set array.level=raid0,raid1,raid10,raid4,raid5,raid6 --json > /dev/null; \
	harmonia run tiny --out $(TARGET)/explained > /dev/null; \
	harmonia explain $(TARGET)/explained --slowest 3 > /dev/null; \
	harmonia explain raid5-hpc-w --set ssd.preset=tiny-test --set workload.requests=2000 --request 1500 > /dev/null; \
	harmonia advise --trace $$trace --drive tiny-test --count 4 --level raid5 --chunk 16KiB --set workload.remap=wrap \
		--set workload.warmup=0 --quiet > /dev/null; \
	harmonia trace info $$trace --quiet > /dev/null; \
	harmonia trace head $$trace --quiet > /dev/null; \
	harmonia trace fit $$trace --quiet > $(TARGET)/fitted.toml; \
	harmonia check $(TARGET)/fitted.toml > /dev/null; \
	for format in msr disksim fio harmonia; do \
		harmonia trace convert $$trace --to $$format --out $(TARGET)/converted.$$format --force --quiet > /dev/null; \
		harmonia run msr-trace --trace $(TARGET)/converted.$$format --format $$format --set ssd.preset=tiny-test > /dev/null; \
	done; \
	python3 tests/first_screen.py $(COMMAND); \
	echo 'examples: all run'

$(VENV)/ready: pyproject.toml Makefile
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2' pytest mypy \
		jsonschema types-jsonschema 'dask[distributed]' 'altair>=5.5,<7' 'polars>=1.20' 'vl-convert-python>=1.7' \
		pyarrow pandas duckdb nbclient nbformat ipykernel 'tomli; python_version < "3.11"'
	touch $@

# The development profile: shares its dependencies with `make test`. A wheel for others: `pip install .`
python: prerequisites-python $(VENV)/ready
	VIRTUAL_ENV=$(VENV) CARGO_TARGET_DIR=$(TARGET) $(VENV)/bin/maturin develop --quiet --locked
	$(VENV)/bin/python -m pytest --quiet
	$(VENV)/bin/python -m mypy --strict python/harmonia python/tests benches/python peers
	$(VENV)/bin/python -m mypy.stubtest --mypy-config-file pyproject.toml harmonia._native

# Short comparisons held against what long ones name, on the terminal, in JSON, on the page and in Python.
judgement: prerequisites-python $(VENV)/ready command
	XDG_CACHE_HOME=$(TARGET)/cache $(VENV)/bin/python tests/judgement.py $(COMMAND) $(LONG)

judgement-long:
	$(MAKE) --no-print-directory judgement LONG=--long

# What advise says, held against long runs of the same arrays: two cases of eight.
advice: prerequisites-python command
	XDG_CACHE_HOME=$(TARGET)/cache python3 tests/advice.py $(COMMAND) $(ADVICE)

advice-long:
	$(MAKE) --no-print-directory advice ADVICE=--all

# Of every built-in scenario; make examples looks at some.
screens: prerequisites-python command
	XDG_CACHE_HOME=$(TARGET)/cache python3 tests/first_screen.py $(COMMAND) --all

coverage: prerequisites
	HARMONIA_REPLICATIONS=400 cargo test --locked -p harmonia-metrics --test coverage -- --nocapture
	HARMONIA_REPLICATIONS=400 cargo test --locked -p harmonia-run --test all judgement::intervals -- --include-ignored --nocapture
	HARMONIA_REPLICATIONS=200 cargo test --locked -p harmonia-run --test all judgement::a_winner -- --include-ignored --nocapture

$(BROWSER_VENV)/ready: tests/browser/requirements.txt
	python3 -m venv $(BROWSER_VENV)
	$(BROWSER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/browser/requirements.txt
	touch $@

# The page of results in the system's own browser; nothing but the driver is installed.
browser: prerequisites-python prerequisites-browser $(BROWSER_VENV)/ready command
	BROWSER_PATH="$(CHROMIUM)" HARMONIA="$(COMMAND)" $(BROWSER_VENV)/bin/python -m pytest --quiet tests/browser/test_page.py

$(SITE_VENV)/ready: site/requirements.txt
	python3 -m venv $(SITE_VENV)
	$(SITE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r site/requirements.txt
	touch $@

# Asks for no other host once the generator is there.
site: prerequisites-python $(SITE_VENV)/ready
	@$(SITE_VENV)/bin/python site/build.py $(TARGET)/site-pages $(TARGET)/site

site-test: prerequisites-browser $(BROWSER_VENV)/ready site
	BROWSER_PATH="$(CHROMIUM)" SITE="$(TARGET)/site" $(BROWSER_VENV)/bin/python -m pytest --quiet tests/browser/test_site.py

newcomer: prerequisites-python
	CARGO_TARGET_DIR=$(TARGET) python3 tests/newcomer.py

links: prerequisites-python
	python3 tests/links.py

prose: prerequisites-python
	python3 tests/prose.py

bench: prerequisites prerequisites-python $(VENV)/ready
	cargo run --release --locked -p harmonia-bench -- write docs/performance.md
	VIRTUAL_ENV=$(VENV) CARGO_TARGET_DIR=$(TARGET) $(VENV)/bin/maturin develop --quiet --locked --release
	$(VENV)/bin/python benches/python/frames.py
	XDG_CACHE_HOME=$(TARGET)/cache $(VENV)/bin/python benches/python/policies.py

# Fetches nothing: DISKSIM and MQSIM are binaries of your own; peers/README.md names the versions. PEERS=results|speed|all.
peers: prerequisites prerequisites-python $(VENV)/ready
	@if [ -z "$(DISKSIM)$(MQSIM)" ]; then \
		$(VENV)/bin/python -m peers --harmonia none; \
	else \
		cargo build --release --locked -p harmonia-cli; \
		$(VENV)/bin/python -m peers --harmonia $(TARGET)/release/harmonia --what $(or $(PEERS),all) \
			$(if $(DISKSIM),--disksim '$(DISKSIM)') $(if $(MQSIM),--mqsim '$(MQSIM)') $(if $(ONLY),--only '$(ONLY)') \
			--turns $(or $(TURNS),3) $(if $(FULL),--full); \
	fi

# Zig links against an old glibc, so that a wheel runs on every Linux since 2014 (manylinux2014: glibc 2.17). Each wheel of this
# machine is installed in a fresh environment, and both package and command run there without Rust.
WHEEL_TARGETS = $(filter $(addsuffix -unknown-linux-gnu,x86_64 aarch64),$(shell rustc --print host-tuple 2> /dev/null) $(shell rustup target list --installed 2> /dev/null))
wheels: prerequisites prerequisites-python $(VENV)/ready
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check 'ziglang>=0.13'
	@for target in $(sort $(WHEEL_TARGETS)); do \
		echo "wheel for $$target"; \
		CARGO_TARGET_DIR=$(TARGET) PATH="$(VENV)/bin:$$PATH" $(VENV)/bin/maturin build --quiet --release --locked --strip --zig \
			--compatibility manylinux2014 --target $$target --out $(TARGET)/wheels; \
	done
	python3 tests/wheel.py $(TARGET)/wheels

# Without a sanitizer it works on the stable toolchain: panics, hangs and broken promises are what we look for. The flags are
# those of cargo-fuzz; a target triple keeps them from build scripts and macros. As many parsers at once as there are cores.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0
fuzz: prerequisites
	@if ! command -v c++ > /dev/null; then \
		echo 'fuzz: skipped, libFuzzer needs a C++ compiler (Debian, Ubuntu: apt install g++)'; exit 0; \
	fi; \
	host=$$(rustc --print host-tuple); \
	RUSTFLAGS='$(FUZZ_FLAGS)' cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml --target "$$host" --target-dir $(TARGET)/fuzz; \
	cp "$(TARGET)/fuzz/$$host/release/fuzz" $(TARGET)/fuzz/fuzz; \
	printf '%s\n' $(FUZZ_ONLY) | xargs -P "$$(nproc)" -I NAME $(MAKE) --no-print-directory fuzz-one FUZZ_TARGET=NAME FUZZ_SECONDS=$(FUZZ_SECONDS)

# Of `make fuzz`: one parser with the program that is built.
fuzz-one:
	@mkdir -p fuzz/corpus/$(FUZZ_TARGET) fuzz/artifacts/$(FUZZ_TARGET); \
	log=$$(mktemp); \
	if HARMONIA_FUZZ=$(FUZZ_TARGET) $(TARGET)/fuzz/fuzz fuzz/corpus/$(FUZZ_TARGET) fuzz/seeds/$(FUZZ_TARGET) \
		-max_total_time=$(FUZZ_SECONDS) -timeout=20 -print_final_stats=1 -artifact_prefix=fuzz/artifacts/$(FUZZ_TARGET)/ > $$log 2>&1; \
	then echo "fuzz $(FUZZ_TARGET) for $(FUZZ_SECONDS) s: $$(awk '/number_of_executed_units/ {print $$2}' $$log) inputs"; rm $$log; \
	else echo "fuzz $(FUZZ_TARGET)"; cat $$log; rm $$log; exit 1; fi

swarm: prerequisites
	HARMONIA_SWARM=$(SWARM) cargo test --locked -p harmonia-run --test all swarm:: -- --include-ignored --nocapture

torture: prerequisites
	cargo run --release --locked -p harmonia-array --example torture -- $(OPERATIONS) $(SEED)

histories: prerequisites
	cargo test --locked -p harmonia-array --lib in_many_histories -- --ignored

# What `harmonia calibrate` finds of ten simulated drives, from files alone.
calibrations: prerequisites
	cargo test --locked -p harmonia-calibrate --test hidden ten_drives_are_found -- --ignored --nocapture

# What is known of a commit and a seed is kept below target/mutants; 300 mutants take an hour and a half on two cores.
mutants: prerequisites prerequisites-python $(VENV)/ready
	@export PATH="$(TOOLS)/bin:$$PATH"; \
	command -v cargo-mutants > /dev/null || cargo install cargo-mutants@27.0.0 --locked --quiet --root $(TOOLS); \
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check 'tree-sitter==0.26.*' 'tree-sitter-rust==0.24.*'; \
	$(VENV)/bin/python tests/mutants $(TARGET)/mutants --count $(MUTANTS) --seed $(SEED) $(if $(PACKAGE),--package $(PACKAGE))

# Named drives against measurements; docs/presets.md has what came of it.
drives: prerequisites
	cargo run --release --locked -p harmonia-cli -- reproduce drives --out $(TARGET)/drives
	cp $(TARGET)/drives/drives.json experiments/drives.json
	$(MAKE) --no-print-directory docs

# The same into a new folder, which has to be what is kept.
drives-kept: prerequisites
	rm -rf $(TARGET)/drives-kept
	cargo run --release --locked -p harmonia-cli -- reproduce drives --out $(TARGET)/drives-kept
	cmp $(TARGET)/drives-kept/drives.json experiments/drives.json

# Loads and a drive that nobody here has seen measurements of; docs/predictions.md has what came of it.
predictions: prerequisites
	cargo run --release --locked -p harmonia-cli -- reproduce drives --predict --out $(TARGET)/drives > $(TARGET)/predictions.txt
	cp $(TARGET)/drives/predictions.json experiments/predictions.json
	$(MAKE) --no-print-directory docs

# Runs are kept below target/; delete the folder after changing the simulator.
reproduce: prerequisites
	cargo run --release --locked -p harmonia-cli -- reproduce --out $(TARGET)/reproduction
	cargo run --quiet --locked -p harmonia-reproduce --example findings -- $(TARGET)/reproduction/results.json

# Seven coordination policies and the bound on four levels, over loads and stripe units: docs/redundancy.md. TRACE=FILE adds a trace. Goes on where
# it was stopped; half an hour on two idle cores.
LEVEL_POLICIES := local,reactive-inclusive,reactive-selective,proactive-idle,proactive-soft-limit,gcsync,gclock,ideal
LEVEL_SETS = --set array.level=raid0,raid10,raid5,raid6 --set array.stripe_unit=$$unit --policies $(LEVEL_POLICIES) --seeds 3 --json
redundancy: prerequisites
	cargo build --release --locked -p harmonia-cli
	@mkdir -p $(TARGET)/redundancy; \
	for unit in 4KiB 512KiB; do for load in hpc-w hpc-r $(if $(TRACE),trace); do \
		file=$(TARGET)/redundancy/$$unit-$$load.json; \
		if [ -s "$$file" ]; then continue; fi; \
		args=($$load --set workload.requests=12000); \
		if [ $$load = trace ]; then \
			args=(hpc-w --trace '$(TRACE)' --set workload.time_scale=$(or $(TIME_SCALE),1) --set workload.requests=50000 --set workload.warmup=5000); \
		fi; \
		$(TARGET)/release/harmonia compare "$${args[@]}" $(LEVEL_SETS) > "$$file.part"; \
		mv "$$file.part" "$$file"; \
	done; done
	python3 experiments/redundancy.py $(TARGET)/redundancy

# Schemes while a member is missing or rebuilt: the tables of docs/failures.md. Goes on where it was stopped.
rebuilding: prerequisites
	cargo build --release --locked -p harmonia-cli
	@mkdir -p $(TARGET)/rebuilding
	python3 experiments/rebuilding.py $(TARGET)/release/harmonia $(TARGET)/rebuilding > $(TARGET)/rebuilding/rebuilding.md
	@cat $(TARGET)/rebuilding/rebuilding.md

# What members reveal, rung by rung: the tables of target/ladder/ladder.md. Goes on where it was stopped; at most two hours on
# two idle cores. TRACE1 and TRACE2 are traces of your own; times in them are multiplied by SCALE1 and SCALE2.
ladder: prerequisites
	cargo build --release --locked -p harmonia-cli
	@mkdir -p $(TARGET)/ladder
	python3 experiments/ladder.py $(TARGET)/release/harmonia $(TARGET)/ladder \
		$(if $(TRACE1),'$(TRACE1):$(or $(SCALE1),1)') $(if $(TRACE2),'$(TRACE2):$(or $(SCALE2),1)') > $(TARGET)/ladder/ladder.md
	@cat $(TARGET)/ladder/ladder.md

# Named drives behind parity and copies: the tables of docs/behind-the-cache.md. Goes on where it was stopped; delete the folder after
# changing the simulator. Tables of traces are in target/behind/behind.md; the page has those that experiments/behind.py names, as they
# were given last.
behind: prerequisites
	cargo build --release --locked -p harmonia-cli
	@mkdir -p $(TARGET)/behind
	python3 experiments/behind.py $(TARGET)/release/harmonia $(TARGET)/behind --keep \
		$(if $(TRACE1),'$(TRACE1)') $(if $(TRACE2),'$(TRACE2)') > $(TARGET)/behind/behind.md
	@cat $(TARGET)/behind/behind.md

# What schemes cost in years, on RAID-5 of a named drive: the tables and the figure of docs/latency-and-lifetime.md. Goes on where it
# was stopped; delete the folder after changing the simulator. Tables of traces are in target/years/years.md; the page has those that
# experiments/years.py names, as they were given last.
years: prerequisites
	cargo build --release --locked -p harmonia-cli
	@mkdir -p $(TARGET)/years
	python3 experiments/years.py $(TARGET)/release/harmonia $(TARGET)/years --keep \
		$(if $(TRACE1),'$(TRACE1):$(or $(SCALE1),1)') $(if $(TRACE2),'$(TRACE2):$(or $(SCALE2),1)') > $(TARGET)/years/years.md
	cargo run --quiet --locked -p harmonia-figure --example scatter < $(TARGET)/years/points.json > $(TARGET)/years/picture.svg
	cp $(TARGET)/years/picture.svg docs/latency-and-lifetime.svg
	@cat $(TARGET)/years/years.md

relocation: prerequisites
	cargo build --release --locked -p harmonia-cli
	@mkdir -p $(TARGET)/relocation
	python3 experiments/relocation.py $(TARGET)/release/harmonia $(TARGET)/relocation \
		$(if $(TRACE1),'$(TRACE1):$(or $(SCALE1),1)') $(if $(TRACE2),'$(TRACE2):$(or $(SCALE2),1)') > $(TARGET)/relocation/relocation.md
	@cat $(TARGET)/relocation/relocation.md

# Tables 7 and 8 of Electronics 2025; the same tables, of the committed results, are on the page of findings.
sensitivity: prerequisites
	cargo run --release --locked -p harmonia-cli -- reproduce adaptive-thresholds adaptive-channels --out $(TARGET)/sensitivity
	@awk '/^## /{shown = /ramp begin and end|ramp reach/} shown && /^(##|\|)/' $(TARGET)/sensitivity/findings.md

findings: prerequisites
	cargo run --quiet --locked -p harmonia-reproduce --example findings

plain-write: prerequisites
	python3 tests/plain_write.py --write

plain-write-check: prerequisites
	python3 tests/plain_write.py

docs: prerequisites
	cargo run --quiet --locked -p harmonia-run --example pages

clean:
	cargo clean
	rm -rf demo reproduction fuzz/target fuzz/artifacts fuzz/corpus python/harmonia/*.so

prerequisites:
	@missing=0; \
	if ! command -v cargo > /dev/null; then \
		echo 'missing: Rust 1.91 or newer; install it from https://rustup.rs'; missing=1; \
	else \
		version=$$(rustc --version | cut -d' ' -f2); \
		if [ "$$(printf '%s\n' 1.91.0 "$$version" | sort -V | head -n 1)" != 1.91.0 ]; then \
			echo "missing: Rust 1.91 or newer, found $$version; run rustup update stable"; missing=1; \
		fi; \
	fi; \
	if ! command -v cc > /dev/null; then \
		echo 'missing: a C compiler to link with; Debian, Ubuntu: apt install gcc libc6-dev; macOS: xcode-select --install'; \
		missing=1; \
	fi; \
	exit $$missing

prerequisites-python:
	@if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null; then \
		echo 'missing: Python 3.10 or newer; Debian, Ubuntu: apt install python3 python3-venv'; exit 1; \
	elif ! python3 -c 'import ensurepip, venv' 2> /dev/null; then \
		echo 'missing: the venv module of Python; Debian, Ubuntu: apt install python3-venv'; exit 1; \
	fi

prerequisites-browser:
	@if [ -z "$(CHROMIUM)" ]; then \
		echo 'missing: a browser to test the page with; Debian: apt install chromium; elsewhere: Chrome or Chromium, CHROMIUM=/path/to/it'; \
		exit 1; \
	fi
