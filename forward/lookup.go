package forward

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"time"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// lookup finds the addresses of host, a name without its final dot. It returns at least one, or an error, and ends with
// ctx. ttl is how long they hold; zero if nobody said.
type lookup func(ctx context.Context, host string) (addrs []netip.Addr, ttl time.Duration, err error)

// systemTTL is how long what the system's resolver said is taken for true: it does not say itself.
const systemTTL = 30 * time.Second

var errNoAddress = errors.New("no addresses found")

// followerKey identifies a host name and who is asked for it.
func followerKey(b *block, host string) string {
	return fmt.Sprintf("%s %v %t %s %v", host, b.resolvers, b.ownResolvers, b.source, b.pace)
}

// newLookup returns the way in which b wants its host names looked up.
func newLookup(b *block) lookup {
	if !b.ownResolvers {
		return systemLookup
	}
	return func(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
		return askAll(ctx, b.resolvers, b.source, host)
	}
}

// systemLookup asks the system's resolver. The name is absolute: search domains are not for upstreams.
func systemLookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
	if err != nil {
		return nil, 0, err
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	if len(addrs) == 0 {
		return nil, 0, errNoAddress
	}
	return addrs, systemTTL, nil
}

// askAll asks one resolver after the other until one knows an address.
func askAll(ctx context.Context, servers []netip.AddrPort, source netip.Addr, host string) ([]netip.Addr, time.Duration,
	error) {
	last := errNoAddress
	for _, server := range servers {
		addrs, ttl, err := askOne(ctx, server, source, host)
		if err == nil {
			return addrs, ttl, nil
		}
		last = fmt.Errorf("resolver %s: %w", server, err)
	}
	return nil, 0, last
}

// askOne asks server for the A and the AAAA records of host. One kind is enough.
func askOne(ctx context.Context, server netip.AddrPort, source netip.Addr, host string) ([]netip.Addr, time.Duration,
	error) {
	owner := shared.New()
	defer owner.Release()
	config := resolverConfig(server, source)
	r, err := resolvers.Acquire(owner, config.Key(), func() (*upstream.Resolver, error) { return upstream.Open(config) })
	if err != nil {
		return nil, 0, err
	}
	var (
		addrs []netip.Addr
		ttl   = time.Duration(math.MaxInt64)
		last  = errNoAddress
	)
	for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		q := new(dns.Msg)
		q.SetQuestion(dns.Fqdn(host), qtype)
		a, err := r.Exchange(ctx, upstream.Question{Msg: q, Proto: "udp"})
		if err != nil {
			last = err
			continue
		}
		for _, rr := range a.Msg.Answer {
			if addr, ok := address(rr); ok {
				addrs = append(addrs, addr)
			}
			ttl = min(ttl, time.Duration(rr.Header().Ttl)*time.Second) // of a CNAME on the way, too
		}
	}
	if len(addrs) == 0 {
		return nil, 0, last
	}
	return addrs, ttl, nil
}

// resolverConfig describes how a resolver is asked for addresses: apart from the questions that are forwarded, and over
// TCP where an answer is truncated.
func resolverConfig(server netip.AddrPort, source netip.Addr) upstream.Config {
	config := upstream.Config{
		Name:        pluginName + "_resolver",
		Addr:        server,
		PreferUDP:   true,
		Expire:      upstream.DefaultExpire,
		ReadTimeout: upstream.DefaultReadTimeout,
	}
	if source.IsValid() && source.Is4() == server.Addr().Is4() {
		config.Source = source
	}
	return config
}

// address returns the address in an A or AAAA record.
func address(rr dns.RR) (addr netip.Addr, ok bool) {
	switch rr := rr.(type) {
	case *dns.A:
		addr, ok = netip.AddrFromSlice(rr.A)
	case *dns.AAAA:
		addr, ok = netip.AddrFromSlice(rr.AAAA)
	}
	return addr.Unmap(), ok
}
