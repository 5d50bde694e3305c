# What a person does with this tree: make run, make test. CONTRIBUTING.md says more.

VERSION ?= dev
COMMIT  := $(shell git describe --always --dirty 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X github.com/coredns/coredns/coremain.GitCommit=$(COMMIT)

# No C anywhere but in the race detector: the binary is static, and `make test` needs no C compiler and shares the cache
# of `make build`.
export CGO_ENABLED := 0

# The linter by version: go run fetches it, nothing is installed by hand.
GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: all build image rootfs e2e-kubernetes run test compile-in race lint bench bench-etcd bench-hosts bench-forward bench-failover man release clean

all: build

build:
	go build -ldflags '$(LDFLAGS)' -o coredns ./cmd/coredns
	go build -ldflags '$(LDFLAGS)' -o skyctl ./cmd/skyctl

run: build
	@printf '%s\n' '' \
	  'Trident serves Corefile.example on port 1053. Ask it from another terminal:' '' \
	  '  dig @127.0.0.1 -p 1053 router.home.arpa A         # the hosts block' \
	  '  dig @127.0.0.1 -p 1053 www.trident.test A         # etcd' \
	  '  dig @127.0.0.1 -p 1053 db.trident.test SRV        # etcd' \
	  '  dig @127.0.0.1 -p 1053 -x 10.0.0.10               # etcd' \
	  '  dig @127.0.0.1 -p 1053 www.upstream.test A        # forwarded' '' \
	  'Ctrl-C stops it. Its etcd keeps its data under data/.' ''
	@exec ./coredns -conf Corefile.example

# deploy/test is a module of its own: it renders and decodes the manifests of deploy/.
test:
	go test ./...
	cd deploy/test && go test -count=1 ./...

# CoreDNS v1.15.0 out of the module cache, with plugin.cfg as README.md says, built, started and asked. One to two minutes
# once its packages are in the build cache; all of CoreDNS's plugins are built the first time.
compile-in:
	go test -count=1 -v -timeout 20m -tags compilein -run CompiledInto ./test/compilein

race:
	CGO_ENABLED=1 go test -race ./...

lint:
	$(GOLANGCI) run
	cd deploy/test && $(GOLANGCI) run

# The image, with docker, podman or buildah: deploy/image.sh says what IMAGE, PLATFORMS and PUSH are.
image:
	VERSION='$(VERSION)' COMMIT='$(COMMIT)' deploy/image.sh

# Its root file system without any of them. As root, so that owners and the file capability are set.
rootfs:
	rm -rf bin/rootfs
	VERSION='$(VERSION)' COMMIT='$(COMMIT)' deploy/rootfs.sh bin/rootfs

# The manifests, and the server with their Corefile and rights, against a real API server and a real etcd. As root, on
# Linux. It builds kube-apiserver, which takes ten minutes the first time and seconds afterwards.
e2e-kubernetes:
	cd test/kubernetes && go test -count=1 -v -timeout 60m .

# Stock CoreDNS v1.15.0 with the in-tree plugins, for the benchmarks to put beside ours.
bin/stock: go.mod test/parity/stock/main.go
	go build -ldflags '-s -w' -o $@ ./test/parity/stock

# Memory and time to load a list of a million names, beside stock. About three minutes; run nothing else meanwhile.
bench-hosts: build bin/stock
	go run ./bench/hosts -stock bin/stock -ours ./coredns

# Everything beside stock and the peers that are installed. About fifteen minutes; run nothing else meanwhile. ARGS takes
# flags: make bench ARGS='-only hosts,kubernetes -rounds 5'. The program's comment says what is measured.
bench: build bin/stock
	go run ./bench/compare -stock bin/stock -ours ./coredns -out bench/results/compare.json $(ARGS)
	@[ ! -e bench/results/compare.json ] || go run -C bench/chart . -in ../results/compare.json -out ../results/compare.svg

# Answers from etcd beside stock, and what copies of its records cost etcd. About ten minutes.
bench-etcd: build bin/stock
	go run ./bench/etcd -stock bin/stock -ours ./coredns $(ARGS)

# Forwarding alone, with the row of cold upstreams. About ten minutes.
bench-forward: build bin/stock
	go run ./bench/compare -stock bin/stock -ours ./coredns -only forward-udp,forward-dot,cold $(ARGS)

# What clients see while upstreams fail, second by second, beside stock. About five minutes; run nothing else meanwhile.
bench-failover: build bin/stock
	go run ./bench/failover -stock bin/stock -ours ./coredns

# Man pages of the manuals: man -l bin/man/coredns-hosts.7
man:
	VERSION='$(VERSION)' release/man.sh bin/man

# A release: archives, lists of what is in the programs, checksums, under bin/release. make release VERSION=1.2.3, with
# PLATFORMS=linux/amd64,darwin/arm64 for some of them. Each platform is a build of everything the first time.
release: man
	go run ./release -version '$(VERSION)' -man bin/man $(if $(PLATFORMS),-platforms $(PLATFORMS))

clean:
	rm -rf coredns skyctl bin data
