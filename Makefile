# Locus. `make` or `make help` lists the targets.

SHELL     := /bin/sh
GO        ?= go
DATA      ?= $(if $(LOCUS_DATA_SETS),$(LOCUS_DATA_SETS),../shared/data)
FUZZTIME  ?= 10s
BENCHTIME ?= 1s
STORM     ?= 2h
RECORDS   ?= 100000
LINT      := tools/bin/golangci-lint

# The race detector needs a C compiler; the go command switches cgo off where there is none.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
# SQLite, translated from C, is not searched for races: with the detector in it tests take five times as long.
LEAN := -gcflags=modernc.org/...=-race=false
# The compiler with fewer collections of garbage: a third less of its time.
COMPILE := GOGC=400 $(GO)
# The go command stamps the tag or the commit, see locus version --json.
RELEASER := $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.1
ACTIONLINT := $(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags "-s -w -buildid="

.DEFAULT_GOAL := help
.PHONY: help build test test/budget test/race test/short test/long test/long/packages test/long/mutants test/ids test/growth test/storm test/mongodb test/postgresql test/e2e lint fmt fuzz bench bench/scale bench/ids bench/counters bench/spread bench/exchange bench/micro eval demo \
        generate site verify verify/tidy verify/generated verify/docs verify/build verify/others verify/deploy verify/package verify/site verify/workflows verify/vulnerabilities release release/snapshot clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z\/]+:.*## / { printf "  %-24s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/locus: static, reproducible, no C compiler needed
	$(BUILD) -o bin/locus ./cmd/locus

test: ## vet, then every test with the race detector
	@test -n "$(RACE)" || { echo "make test: no C compiler, so no race detector; try: apt-get install gcc" >&2; test -z "$$CI"; }
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  echo "make test: no chromium: the console's browser tests are skipped (CI=1: fail); try: apt-get install chromium-headless-shell" >&2
	$(COMPILE) vet $(RACE) $(LEAN) ./...
	$(GO) test $(RACE) $(LEAN) -vet=off -timeout 20m ./...

test/budget: ## the tests under -short, none from the cache, and the ten dearest packages; fails over three times a budget
	@times=$$(mktemp) && trap 'rm -f "$$times"' EXIT && export LOCUS_TIMES="$$times" && \
	$(GO) test -short -count 1 -exec "$$PWD/.ci/timed" ./... && .ci/timed report

test/race: ## only the tests, with the race detector, none from the cache
	$(GO) test -race $(LEAN) -count 1 -timeout 20m ./...

test/short: ## the quick tests, for the loop of editing: no database, process or browser, nothing that takes a third of a second
	$(GO) test -short ./... # without further flags, so results are shared with those of go test in a package

test/long: test/long/packages test/long/mutants ## what CI takes a sample of, in full; planted bugs, mutations (hours)

test/long/packages: ## the tests that take a sample in CI, in full
	LOCUS_LONG=1 $(GO) test -count 1 -timeout 0 $$($(GO) list ./... | grep -v internal/mutant)
	LOCUS_LONG=1 $(GO) -C bench test -count 1 -timeout 0 ./...

test/long/mutants: ## every planted bug, and a hundred mutations by chance
	LOCUS_LONG=1 $(GO) test -count 1 -v -timeout 0 ./internal/mutant

test/ids: ## 100 million ids in every way to mint, over 1,000 restarts; 4,000 trials of 2,000 containers (a minute)
	LOCUS_IDS=100000000 LOCUS_TRIALS=4000 $(GO) test -count 1 -v -run 'TestP07_(EveryWay|Containers)' ./locality

test/growth: ## the key directory at length: 10 million seeds, the largest model, a million plans, four servers (hours)
	LOCUS_SEEDS=10000000 LOCUS_MODEL=1 LOCUS_PLANS=1000000 $(GO) test -count 1 -v -timeout 0 -run 'P06|P08' ./cell
	LOCUS_LIVE=long $(GO) test -count 1 -v -timeout 3h -run 'P06|P07|P08' ./e2e

test/storm: ## kills, stops, full disks, promotions, growths, moves and restores at the same time, for STORM (2h); as root, who can mount small disks
	LOCUS_STORM=$(STORM) $(GO) test -count 1 -v -timeout 0 -run '_Storm$$' ./e2e

test/mongodb: ## the tests of MongoDB on the server of LOCUS_TEST_MONGODB_URI, never on the stand-in; says what is left out
	LOCUS_TEST=mongodb $(GO) test -count 1 -v ./internal/mongotest ./storage/mongodb/...

test/postgresql: ## the suites of the backend on the PostgreSQL of LOCUS_PG_BIN; CI runs them on 15 to 18
	$(GO) test -count 1 -timeout 20m ./internal/pgtest ./storage/postgres

test/e2e: ## the real binary: scripts, kills, bad inputs, the console in a browser
	$(GO) test -count 1 -v ./e2e/...

lint: $(LINT) ## every linter of .golangci.yaml (the first run builds them)
	$(LINT) run ./...
	cd bench && ../$(LINT) run ./...

fmt: $(LINT) ## format the code
	$(LINT) fmt ./...

fuzz: ## every fuzz target for FUZZTIME (10s)
	@for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
	  done; \
	done

bench: ## the whole: durable resolves a second, latency, bytes a record (RECORDS=100000)
	$(GO) -C bench run ./resolve -records $(RECORDS)
	$(GO) -C bench run ./resolve -records $(RECORDS) -via http

bench/scale: ## the curve of 10 million records, hours and 12 GB: docs/scale.csv, docs/scale.svg (RECORDS=1000000 MAP=postgres://HOST/NAME)
	$(GO) -C bench run ./resolve -records $(or $(filter-out 100000,$(RECORDS)),10000000) -slices 100 -clients 16 -curve ../docs/scale $(if $(MAP),-map $(MAP))

bench/ids: ## ids beside those of other libraries, some minutes (IDS='-count 10 -go go1.27.1')
	$(GO) -C bench run ./ids $(IDS)

bench/counters: ## hits beside the source text's documents and Redis, most of an hour (COUNTERS='-rounds 1')
	$(GO) -C bench run ./counters $(COUNTERS)

bench/spread: ## who takes the writes of a sharded collection: docs/mongodb.csv, docs/mongodb.svg (SPREAD='-uri mongodb://ROUTER/ -picture run')
	$(GO) -C bench run ./spread $(or $(SPREAD),-picture ../docs/mongodb)

bench/exchange: ## files in and out: import, export, dump, restore, dedupe of 100,000 rows, some minutes (EXCHANGE='-records 1000000 -rounds 1')
	$(GO) -C bench run ./exchange $(EXCHANGE)

bench/micro: ## the benchmarks of every package
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./...
	$(GO) -C bench test -run '^$$' -bench . -benchtime $(BENCHTIME) ./...

eval: ## matching quality on the labelled sets in DATA (../shared/data), against eval/baseline.json
	@if test -d "$(DATA)"; then \
	  $(GO) run ./cmd/locus eval all --data "$(DATA)" --learn --answers 100,300 --judge --baseline eval/baseline.json --markdown \
	    --results eval/results.json --page docs/quality.md && \
	  $(GO) run ./cmd/locus eval survivorship "$(DATA)/overture_survivorship/gold_100.jsonl"; \
	else \
	  echo "make eval: skipped: no labelled sets in $(DATA); try: make eval DATA=DIR"; \
	fi

demo: ## 20,000 dirty records become entities while you watch
	$(GO) run ./cmd/locus demo

generate: ## write what is made from code: settings, dashboard, alerts, the OpenAPI document, the clients, exported names
	UPDATE=1 $(GO) test -count 1 ./internal/cli -run '^TestConfig_OfTheService$$'
	UPDATE=1 $(GO) test -count 1 ./internal/obs -run '^TestSignals_Generated$$'
	$(GO) test -count 1 -run TestOpenAPI_Golden ./internal/httpapi -rewrite
	$(GO) test -count 1 -run TestGenerated ./internal/apigen -rewrite
	$(GO) test -count 1 -run TestAPI ./internal/archtest -rewrite

site: ## the documentation as a website with a search, in dist/site
	cd tools/site && $(GO) run . ../.. ../../dist/site

verify: verify/tidy verify/generated verify/docs verify/build verify/others ## what a review wants to know besides the tests

verify/tidy: ## go.mod and go.sum are complete and untouched
	$(GO) mod verify
	$(GO) mod tidy -diff
	cd bench && $(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	cd deploy/verify && $(GO) mod tidy -diff
	cd tools/release && $(GO) mod tidy -diff
	cd tools/site && $(GO) mod tidy -diff
	cd internal/mongotest/standin && $(GO) mod tidy -diff

verify/generated: ## the clients are what the OpenAPI document says, which is the server's
	$(GO) test -count 1 -run TestOpenAPI_Golden ./internal/httpapi
	$(GO) test -count 1 -run TestGenerated ./internal/apigen
	$(GO) test -count 1 -run TestAPI ./internal/archtest

verify/docs: ## the commands of the documentation run, its links lead somewhere
	$(GO) test -count 1 ./docs/...

verify/build: ## two clones of the commit build the same bytes, which name it
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	for n in one two; do git clone -q . "$$dir/src/$$n" && ( cd "$$dir/src/$$n" && $(BUILD) -o "$$dir/$$n" ./cmd/locus ) || exit 1; done && \
	"$$dir/one" version | grep -q "commit $$(git rev-parse HEAD) " && \
	cmp "$$dir/one" "$$dir/two" && echo "verify/build: the same $$(wc -c < "$$dir/one") bytes twice"

verify/others: ## what compiles much that nothing else needs: the benchmarks, and ids on a machine with words of 32 bits
	$(GO) -C bench vet ./...
	GOARCH=386 CGO_ENABLED=0 $(GO) test ./locality

verify/deploy: ## the files of deploy, read by the software that they are for: Prometheus, Kubernetes, Compose, BuildKit (compiles them)
	$(GO) -C deploy/verify test -count 1 -timeout 30m ./...

verify/workflows: ## actionlint reads the workflows of CI
	$(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml

verify/site: ## each link of the website leads somewhere, and its search finds what is there
	$(GO) -C tools/site test -count 1 ./...

verify/package: ## the deb and the rpm, with man pages and completions, built and inspected (compiles them)
	$(GO) -C tools/release test -count 1 -timeout 30m ./...

release/snapshot: ## archives, deb, rpm, formulas and checksums of this commit in dist/, without publishing (builds GoReleaser first: half an hour)
	$(RELEASER) release --snapshot --clean --skip=publish,sign,sbom --timeout 3h

release: ## what a tag publishes, as a draft; only .github/workflows/release.yml runs it
	$(RELEASER) release --clean --timeout 3h

verify/vulnerabilities: tools/bin/govulncheck ## known holes in what we depend on (asks vuln.go.dev)
	tools/bin/govulncheck ./...

clean: ## remove what was built
	rm -rf bin dist tools/bin

tools/bin/golangci-lint: tools/go.mod
	cd tools && $(GO) build -o bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

tools/bin/govulncheck: tools/go.mod
	cd tools && $(GO) build -o bin/govulncheck golang.org/x/vuln/cmd/govulncheck

tools/bin/benchstat: tools/go.mod
	cd tools && $(GO) build -o bin/benchstat golang.org/x/perf/cmd/benchstat
