package hosts

import (
	"testing"

	clog "github.com/coredns/coredns/plugin/pkg/log"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	clog.Discard()
	goleak.VerifyTestMain(m)
}
