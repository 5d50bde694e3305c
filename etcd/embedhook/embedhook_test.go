package embedhook

import (
	"errors"
	"strings"
	"testing"
)

func TestBuildWithoutServerSaysWhatToImport(t *testing.T) {
	if Available() {
		t.Error("available without a registration")
	}
	_, err := Start(Config{Dir: "d"})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), Import) {
		t.Errorf("error is %v", err)
	}
}
