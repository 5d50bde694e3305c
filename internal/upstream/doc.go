// Package upstream talks to one DNS resolver: it carries a question there over UDP, TCP, TLS, HTTPS or QUIC and brings
// back the one reply that belongs to it.
//
// [Open] makes a [Resolver] from a [Config] without dialing anything; [Resolver.Exchange] is one attempt at one
// question. What a caller may rely on:
//
//   - The question is never changed, and may be asked of several resolvers at the same time.
//   - A reply carries the asker's ID and question, letter case and all. A datagram that does not belong to the question
//     is dropped while the wait goes on (RFC 5452, section 9.1); on a stream it fails the attempt.
//   - The deadline of the context bounds dialing, handshake, writing and reading.
//   - A connection that died while it was idle, or under a question it had been reused for, costs a new connection and
//     not the attempt.
//   - Hop-by-hop EDNS options stay on their hop: COOKIE, edns-tcp-keepalive and PADDING are neither sent on nor
//     handed back.
//   - Every error wraps one of the sentinels in errors.go.
//   - After [Resolver.Close] nothing runs in the background and questions are still answered, each on a connection of
//     its own: a server in its lame-duck period closes its plugins first and its sockets last.
//
// Choosing among resolvers, trying another one and judging rcodes is left to the caller.
package upstream
