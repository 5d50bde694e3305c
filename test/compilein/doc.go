// Package compilein proves the second way to use Trident: its plugins compiled into somebody else's CoreDNS by way of
// plugin.cfg. `make compile-in` runs the build, which is not part of `make test`.
package compilein
