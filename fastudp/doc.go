// Package fastudp is a CoreDNS plugin that takes over the UDP side of a plain DNS listener: it reads and writes
// datagrams in batches, and answers on goroutines that live long instead of starting one for each question.
//
// CoreDNS tells a plugin about a listener when it starts to serve (dnsserver.Config.UDPDecorateWriterFunc). fastudp
// then opens sockets of its own on the same address and has the kernel give them all datagrams. CoreDNS's own socket
// stays open and idle; whenever fastudp cannot serve, it takes over without anybody noticing.
//
// The parts, from the outside in: setup.go, property.go and plan.go read the Corefile and refuse what does not go
// together; tenure.go is one configuration's hold on one address; front.go keeps the sockets of an address, which
// outlive configurations, and hands them from tenure to tenure; a lane is one socket with its reader, its crew of
// workers and its outbox; accept.go and response.go do for one question what miekg/dns's server does.
package fastudp
