package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// platform is what Go calls GOOS and GOARCH.
type platform struct{ system, arch string }

// release is one release to be built.
type release struct {
	root      string // of the checkout
	out       string // emptied first
	version   string
	commit    string
	time      time.Time // of everything in it
	platforms []platform
	programs  []string // packages, relative to root
	linux     []string // further ones, for Linux
	documents []string // relative to root
	man       []string // paths of man pages
}

// run builds everything into r.out.
func (r *release) run() error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	var built []string
	for _, p := range r.platforms {
		files, err := r.platform(p)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", p.system, p.arch, err)
		}
		built = append(built, files...)
	}
	return r.sums(built)
}

// platform builds the archive and the SBOM of one platform, and returns their names.
func (r *release) platform(p platform) ([]string, error) {
	name := fmt.Sprintf("trident-%s-%s-%s", r.version, p.system, p.arch)
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	var files []file
	var binaries []string
	packages := r.programs
	if p.system == "linux" {
		packages = slices.Concat(packages, r.linux)
	}
	for _, pkg := range packages {
		binary := filepath.Join(work, filepath.Base(pkg))
		if err := r.build(p, pkg, binary); err != nil {
			return nil, err
		}
		binaries = append(binaries, binary)
		files = append(files, file{binary, name + "/" + filepath.Base(pkg), 0o755})
	}
	for _, d := range r.documents {
		files = append(files, file{filepath.Join(r.root, d), name + "/" + d, 0o644})
	}
	for _, m := range r.man {
		section := strings.TrimPrefix(filepath.Ext(m), ".")
		files = append(files, file{m, name + "/man/man" + section + "/" + filepath.Base(m), 0o644})
	}
	bom, err := r.bom(name, binaries)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), bom, 0o644); err != nil {
		return nil, err
	}
	if err := writeArchive(filepath.Join(r.out, name+".tar.gz"), files, r.time); err != nil {
		return nil, err
	}
	return []string{name + ".cdx.json", name + ".tar.gz"}, nil
}

// build compiles a program. Neither where the checkout is nor what git says of it gets into the binary by itself.
func (r *release) build(p platform, pkg, binary string) error {
	flags := "-s -w -X main.version=" + r.version + " -X github.com/coredns/coredns/coremain.GitCommit=" + r.commit
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", binary, pkg)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+p.system, "GOARCH="+p.arch,
		"GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// sums writes the checksums, in the form that sha256sum -c reads.
func (r *release) sums(names []string) error {
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(text.String()), 0o644)
}
