package fastudp

import "github.com/miekg/dns"

// secrets are the TSIG keys of a listener: base64 by key name in canonical form.
type secrets map[string]string

// verify checks the signature sig of the question m. It may change m.
func (s secrets) verify(m []byte, sig *dns.TSIG) error {
	secret, ok := s[sig.Hdr.Name]
	if !ok {
		return dns.TsigVerifyWithProvider(m, unknownKey{}, "", false)
	}
	return dns.TsigVerify(m, secret, "", false)
}

// sign packs m, whose last record is a TSIG to be filled in, and returns the MAC as well, which the next message of the
// same exchange builds on.
func (s secrets) sign(m *dns.Msg, requestMAC string, timersOnly bool) ([]byte, string, error) {
	secret, ok := s[m.IsTsig().Hdr.Name]
	if !ok {
		return dns.TsigGenerateWithProvider(m, unknownKey{}, requestMAC, timersOnly)
	}
	return dns.TsigGenerate(m, secret, requestMAC, timersOnly)
}

// unknownKey stands for a key that is not configured. Replies that report just that are not signed, and need none.
type unknownKey struct{}

func (unknownKey) Generate([]byte, *dns.TSIG) ([]byte, error) { return nil, dns.ErrSecret }
func (unknownKey) Verify([]byte, *dns.TSIG) error             { return dns.ErrSecret }
