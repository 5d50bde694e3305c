// Package parity asks CoreDNS v1.15.0 with its in-tree plugins and CoreDNS with ours the same questions over the same
// data. Every bit of the header, every section in its order and every TTL must agree, but for the differences that
// this package lists, each with its reason. A listed difference that no question shows any more fails the test, too.
package parity
