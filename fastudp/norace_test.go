//go:build !race

package fastudp

const raceEnabled = false
