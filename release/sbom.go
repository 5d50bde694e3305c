package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// bom is a CycloneDX 1.6 document (ECMA-424), as far as it is needed.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// bom lists the modules that binaries were linked from, as Go wrote them into them.
func (r *release) bom(name string, binaries []string) ([]byte, error) {
	modules := make(map[string]component)
	programs := make(map[string][]string) // references by program
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		program := filepath.Base(path)
		for _, m := range linked(info) {
			modules[m.Ref] = m
			programs[program] = append(programs[program], m.Ref)
		}
	}
	root := component{
		Type: "application", Ref: "trident", Name: "trident", Version: r.version, PURL: purl("github.com/trident-dns/trident", "v"+r.version),
	}
	doc := bom{
		Format: "CycloneDX", Spec: "1.6", Version: 1, Serial: serial(name + r.commit),
		Metadata: metadata{r.time.Format(time.RFC3339), root},
	}
	top := dependency{Ref: root.Ref, DependsOn: slices.Sorted(maps.Keys(programs))}
	doc.Dependencies = append(doc.Dependencies, top)
	for _, program := range top.DependsOn {
		doc.Components = append(doc.Components, component{Type: "application", Ref: program, Name: program, Version: r.version})
		slices.Sort(programs[program])
		doc.Dependencies = append(doc.Dependencies, dependency{program, programs[program]})
	}
	doc.Components = append(doc.Components, slices.SortedFunc(maps.Values(modules), func(a, b component) int {
		return cmp.Compare(a.Ref, b.Ref)
	})...)
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}

// linked are the modules of a program but the main one, and Go's own library.
func linked(info *debug.BuildInfo) []component {
	version := strings.TrimPrefix(info.GoVersion, "go")
	all := []component{{Type: "library", Ref: purl("std", version), Name: "std", Version: version, PURL: purl("std", version)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Ref: purl(m.Path, m.Version), Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version)}
		if m.Sum != "" {
			c.Properties = []property{{"go.sum", m.Sum}}
		}
		all = append(all, c)
	}
	return all
}

// purl is the package URL of a Go module: https://github.com/package-url/purl-spec has the rules.
func purl(path, version string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "pkg:golang/" + strings.Join(parts, "/") + "@" + url.QueryEscape(version)
}

// serial makes a UUID of version 8 (RFC 9562, section 5.8) out of text, so that the same release has the same.
func serial(text string) string {
	u := sha256.Sum256([]byte(text))
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
