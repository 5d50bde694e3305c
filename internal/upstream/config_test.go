package upstream

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func valid() Config {
	return Config{Name: "test", Addr: netip.MustParseAddrPort("192.0.2.53:53")}
}

func TestKeyTellsConfigurationsApart(t *testing.T) {
	changes := map[string]func(*Config){
		"Name":         func(c *Config) { c.Name = "other" },
		"Transport":    func(c *Config) { c.Transport = TLS },
		"Addr":         func(c *Config) { c.Addr = netip.MustParseAddrPort("[fe80::1%eth0]:53") },
		"ServerName":   func(c *Config) { c.ServerName = "dns.example" },
		"TLSKey":       func(c *Config) { c.TLSKey = "cert" },
		"Path":         func(c *Config) { c.Path = "/other" },
		"Method":       func(c *Config) { c.Method = "GET" },
		"Source":       func(c *Config) { c.Source = netip.MustParseAddr("192.0.2.1") },
		"ForceTCP":     func(c *Config) { c.ForceTCP = true },
		"PreferUDP":    func(c *Config) { c.PreferUDP = true },
		"Expire":       func(c *Config) { c.Expire = time.Second },
		"MaxAge":       func(c *Config) { c.MaxAge = time.Second },
		"ReadTimeout":  func(c *Config) { c.ReadTimeout = time.Second },
		"MaxIdleConns": func(c *Config) { c.MaxIdleConns = 1 },
		"MaxFails":     func(c *Config) { c.MaxFails = 1 },
		"Probe":        func(c *Config) { c.Probe.Domain = "example.org." },
		"RateLimit":    func(c *Config) { c.RateLimit = 0.5 },
		"RateBurst":    func(c *Config) { c.RateBurst = 2 },
		"MaxInFlight":  func(c *Config) { c.MaxInFlight = 2 },

		"Probe, periodic":   func(c *Config) { c.Probe.Periodic = true },
		"PoorRcodes":        func(c *Config) { c.PoorRcodes = []int{dns.RcodeServerFailure} },
		"Probe, FailRcodes": func(c *Config) { c.Probe.FailRcodes = []int{dns.RcodeServerFailure} },
	}
	seen := map[string]string{valid().Key(): "no change"}
	for field, change := range changes {
		c := valid()
		change(&c)
		if other, ok := seen[c.Key()]; ok {
			t.Errorf("a change of %s has the key of: %s", field, other)
		}
		seen[c.Key()] = field
	}
	for i := range reflect.TypeFor[Config]().NumField() {
		// TLS itself is identified by TLSKey.
		if field := reflect.TypeFor[Config]().Field(i).Name; field != "TLS" && changes[field] == nil {
			t.Errorf("nothing is known about field %s", field)
		}
	}
}

func TestKeyTakesZerosForWhatTheyMean(t *testing.T) {
	c := valid()
	c.Path, c.Method, c.ReadTimeout = DefaultPath, "POST", DefaultReadTimeout
	c.Probe = Probe{Interval: DefaultProbeInterval, Domain: "."}
	c.MaxInFlight = DefaultMaxInFlight
	if got, want := c.Key(), valid().Key(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConfigurationsThatMakeNoSense(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no address":        func(c *Config) { c.Addr = netip.AddrPort{} },
		"no port":           func(c *Config) { c.Addr = netip.MustParseAddrPort("192.0.2.53:0") },
		"unknown transport": func(c *Config) { c.Transport = 99 },
		"method":            func(c *Config) { c.Method = "PUT" },
		"source of IPv6":    func(c *Config) { c.Source = netip.MustParseAddr("2001:db8::1") },
		"source for an other": func(c *Config) {
			c.Source, c.Addr = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddrPort("[::1]:53")
		},
	} {
		c := valid()
		change(&c)
		if r, err := Open(c); err == nil {
			r.Close()
			t.Errorf("%s: opened", name)
		}
	}
}
