// Command release builds what a release of Trident consists of: an archive for each platform, a list of what is in its
// programs (SBOM), and checksums. The same commit, version and Go make the same bytes, wherever the checkout is.
//
//	go run ./release -version 1.2.3 [-platforms linux/amd64,darwin/arm64] [-out bin/release] [-man bin/man]
//
// SOURCE_DATE_EPOCH, or else the time of the commit, is the time of everything in the archives.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// allPlatforms are those that releases are made for.
const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// semantic is a version as https://semver.org has it, without a v.
var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

var (
	errVersion  = errors.New("version: want numbers such as 1.2.3 or 1.2.3-rc.1")
	errPlatform = errors.New("platform: want OS/ARCH, such as linux/amd64")
)

func main() {
	log.SetFlags(0)
	r := release{root: ".", programs: []string{"./cmd/coredns", "./cmd/skyctl"}, linux: []string{"./cmd/dummyif"}}
	flag.StringVar(&r.version, "version", "", "version, such as 1.2.3")
	flag.StringVar(&r.out, "out", "bin/release", "directory to build into; it is emptied")
	man := flag.String("man", "", "directory of man pages to put in")
	platforms := flag.String("platforms", allPlatforms, "platforms, with commas")
	flag.Parse()
	r.documents = []string{"LICENSE", "README.md", "CHANGELOG.md", "Corefile.example", "records.example"}
	var err error
	if r.platforms, err = parsePlatforms(*platforms); err == nil {
		r.man, err = manPages(*man)
	}
	if err == nil {
		err = r.note()
	}
	if err == nil {
		err = r.run()
	}
	if err != nil {
		log.Fatal(err)
	}
}

func parsePlatforms(text string) (all []platform, err error) {
	for _, p := range strings.Split(text, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(p), "/")
		if !ok || system == "" || arch == "" {
			return nil, fmt.Errorf("%w, not %q", errPlatform, p)
		}
		all = append(all, platform{system, arch})
	}
	return all, nil
}

// manPages lists the pages in dir.
func manPages(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	return filepath.Glob(filepath.Join(dir, "*.[0-9]"))
}

// note asks git what is released.
func (r *release) note() error {
	if !semantic.MatchString(r.version) {
		return fmt.Errorf("%w, not %q", errVersion, r.version)
	}
	commit, err := exec.Command("git", "-C", r.root, "describe", "--always", "--dirty").Output()
	if err != nil {
		return fmt.Errorf("git describe: %w", err)
	}
	r.commit = strings.TrimSpace(string(commit))
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		out, err := exec.Command("git", "-C", r.root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return fmt.Errorf("git log: %w", err)
		}
		epoch = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	return nil
}
