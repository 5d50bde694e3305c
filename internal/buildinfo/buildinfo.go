// Package buildinfo tells which build of Trident runs, in the two places where operators look: the version text and a
// metric of the form that Prometheus users know.
package buildinfo

import (
	"runtime"
	"runtime/debug"

	"github.com/coredns/coredns/coremain"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Text puts Trident's version beside CoreDNS's. -version, the start-up lines and the chaos plugin's version.bind show it.
func Text(version string) string { return coremain.CoreVersion + " Trident-" + version }

// Register registers trident_build_info. coredns_build_info, which stays, has CoreDNS's version alone. It must be called
// once in a process.
func Register(version string) {
	promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "trident_build_info",
		Help: "A metric with a constant '1' value labeled by Trident's version, CoreDNS's, the commit and Go's version.",
	}, []string{"version", "coredns", "revision", "goversion"}).
		WithLabelValues(version, coremain.CoreVersion, revision(), runtime.Version()).Set(1)
}

// revision is the commit that the build was given, or else that which Go noted.
func revision() string {
	if coremain.GitCommit != "" {
		return coremain.GitCommit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
