// Package dnstest runs upstream resolvers on loopback that do what a [Script] says: answer, drop, delay, truncate, lie,
// reset or hang, one question at a time. It is for tests of whoever asks resolvers.
//
//	up := dnstest.New(t, dnstest.Turns(dnstest.Drop, dnstest.A("192.0.2.1")))
//	// ... ask up.Addr() twice; the first question gets no reply ...
//	if n := up.Questions("udp"); n != 2 { ... }
//
// A server has UDP and TCP on one port of 127.0.0.1 ([New]), or one of the encrypted transports ([NewTLS], [NewHTTPS],
// [NewHTTPS3], [NewQUIC]). It ends with the test and leaves no goroutine behind. Scripts may be swapped while it runs. Every question is handled in a goroutine
// of its own, so that a script that waits holds up nobody else, also on the same connection.
package dnstest
