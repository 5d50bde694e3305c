package mmsg

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// Sharing counts the UDP sockets of this network name space that are bound to exactly a, those of other processes as
// well.
func Sharing(a *net.UDPAddr) (int, error) {
	table := "/proc/self/net/udp6"
	if len(a.IP) == net.IPv4len {
		table = "/proc/self/net/udp"
	}
	f, err := os.Open(table)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	return countBound(f, procAddr(a))
}

// procAddr writes an address as the kernel's tables do: each 32 bits of the IP as a number in the machine's byte
// order, a colon, the port.
func procAddr(a *net.UDPAddr) string {
	ip := make([]byte, len(a.IP))
	for i := 0; i+4 <= len(ip); i += 4 {
		binary.BigEndian.PutUint32(ip[i:], binary.NativeEndian.Uint32(a.IP[i:]))
	}
	return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString(ip)), a.Port)
}

// countBound counts the lines of a table of sockets whose local address, the second field, is addr.
func countBound(table io.Reader, addr string) (int, error) {
	n := 0
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[1] == addr {
			n++
		}
	}
	return n, lines.Err()
}
