# Every target is one line into scripts/ or the go tool.

.PHONY: build demo test test-all unit bench bench-liveupdate chaos soak fuzz release-snapshot web-dev generate check cluster-up cluster-down

build: ## the binary, in .bin/hone
	@scripts/build

demo: ## set up what is missing and run hone on two small services
	@scripts/demo/run

test: ## the tests with -short, on a real engine and two real clusters
	@scripts/test

test-all: ## all tests in their whole breadth: every kind of project, every page of the documentation, more rounds
	@HONE_TEST_ALL=1 scripts/test

unit: ## the tests in process, which need neither engine nor cluster; with the race detector where it is cheap
	@scripts/unit

bench: ## measure; each figure as a ratio to something measured in the same run
	@scripts/bench

bench-liveupdate: ## measure live updates, with a witness that is not hone
	@scripts/bench-liveupdate

chaos: ## inject faults by a seed, for about a quarter of an hour
	@scripts/chaos

soak: ## keep one session under faults for an hour
	@scripts/soak

fuzz: ## run every fuzz function for a share of ten minutes, then 3,000 random sequences of deploys
	@scripts/fuzz
	HONE_SEQUENCES=3000 go test -timeout 30m -run TestInvariants ./internal/update/buildanddeploy

release-snapshot: ## make a release without publishing it, and try it
	@scripts/release/snapshot

web-dev: ## build the web page on each change, and have open pages load it
	@scripts/web dev

generate: ## write what is generated from the code
	@scripts/generate

check: ## format, vet, lint, generated files, types on other systems
	@scripts/check

cluster-up: ## engine, registry and single-node Kubernetes
	@scripts/cluster up

cluster-down: ## stop them
	@scripts/cluster down
