package mmsg

import (
	"net"
	"strconv"
	"sync"
)

// zones holds the names of interfaces by index. The machine's interfaces bound it.
var zones sync.Map // int to string

// zone names the interface that an IPv6 scope stands for, or gives its number when it has gone.
func zone(index int) string {
	if name, ok := zones.Load(index); ok {
		return name.(string)
	}
	ifi, err := net.InterfaceByIndex(index)
	if err != nil {
		return strconv.Itoa(index)
	}
	zones.Store(index, ifi.Name)
	return ifi.Name
}
