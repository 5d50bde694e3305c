// Package test holds the tests that see the whole product: real servers from real Corefiles, the built binary under
// signals, the examples of the documents.
package test
