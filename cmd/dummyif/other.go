//go:build !linux

// Command dummyif keeps a dummy network interface with given addresses. It works on Linux only.
package main

import "log"

func main() { log.Fatal("dummyif: dummy interfaces are made on Linux only") }
