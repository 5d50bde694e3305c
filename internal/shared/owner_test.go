package shared

import (
	"errors"
	"io"
	"log"
	"testing"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
)

// The tests run caddy itself, with a server type that listens nowhere and two directives: keep acquires a value at
// start, fail makes the start fail.
const serverType = "sharedtest"

var pool Pool[*thing]

type noServers struct{}

func (noServers) InspectServerBlocks(_ string, b []caddyfile.ServerBlock) ([]caddyfile.ServerBlock, error) {
	return b, nil
}
func (noServers) MakeServers() ([]caddy.Server, error) { return nil, nil }

func init() {
	caddy.Quiet = true
	log.SetOutput(io.Discard) // caddy logs every reload
	caddy.RegisterServerType(serverType, caddy.ServerType{
		Directives: func() []string { return []string{"keep", "fail"} },
		NewContext: func(*caddy.Instance) caddy.Context { return noServers{} },
	})
	caddy.RegisterPlugin("keep", caddy.Plugin{ServerType: serverType, Action: func(c *caddy.Controller) error {
		o := Of(c)
		c.OnStartup(func() error {
			_, err := pool.Acquire(o, "k", open)
			return err
		})
		return nil
	}})
	caddy.RegisterPlugin("fail", caddy.Plugin{ServerType: serverType, Action: func(c *caddy.Controller) error {
		c.OnStartup(func() error { return errors.New("start refused") })
		return nil
	}})
}

func input(body string) caddy.Input {
	return caddy.CaddyfileInput{Contents: []byte(body), Filepath: "Testfile", ServerTypeName: serverType}
}

func start(t *testing.T, body string) *caddy.Instance {
	t.Helper()
	inst, err := caddy.Start(input(body))
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func stop(t *testing.T, inst *caddy.Instance) {
	t.Helper()
	inst.ShutdownCallbacks()
	if err := inst.Stop(); err != nil {
		t.Fatal(err)
	}
	if pool.Len() != 0 {
		t.Errorf("%d values left after the last configuration", pool.Len())
	}
}

func TestAReloadKeepsTheValueAndShutdownClosesIt(t *testing.T) {
	inst := start(t, "a {\n keep\n}\nb {\n keep\n}")
	v := pool.entries["k"].value
	for range 3 {
		next, err := inst.Restart(input("a {\n keep\n}"))
		if err != nil {
			t.Fatal(err)
		}
		inst = next
		if pool.entries["k"].value != v || pool.entries["k"].users != 1 {
			t.Fatalf("the reload made a new value, or left %d users", pool.entries["k"].users)
		}
	}
	stop(t, inst)
	if v.closed != 1 {
		t.Errorf("closed %d times, want once", v.closed)
	}
}

func TestAReloadWithoutTheBlockCloses(t *testing.T) {
	inst := start(t, "a {\n keep\n}")
	inst, err := inst.Restart(input("a"))
	if err != nil {
		t.Fatal(err)
	}
	if pool.Len() != 0 {
		t.Errorf("%d values left although no configuration uses them", pool.Len())
	}
	stop(t, inst)
}

func TestAHundredFailedReloadsLeakNothing(t *testing.T) {
	inst := start(t, "a {\n keep\n}")
	for range 100 {
		if _, err := inst.Restart(input("a {\n keep\n fail\n}")); err == nil {
			t.Fatal("the reload was meant to fail")
		}
	}
	if users := pool.entries["k"].users; users != 1 {
		t.Errorf("%d users after failed reloads, want the configuration in force alone", users)
	}
	stop(t, inst)
}

// The configuration in force has no block of ours, so it has no callback of ours either.
func TestAFailedReloadThatBringsTheFirstBlockLeaksNothing(t *testing.T) {
	inst := start(t, "a")
	for range 3 {
		if _, err := inst.Restart(input("a {\n keep\n fail\n}")); err == nil {
			t.Fatal("the reload was meant to fail")
		}
		if pool.Len() != 0 {
			t.Fatalf("%d values left", pool.Len())
		}
	}
	if n := len(inst.OnRestartFailed); n != 1 {
		t.Errorf("the configuration in force got %d callbacks, want one however often reloads fail", n)
	}
	inst, err := inst.Restart(input("a {\n keep\n}"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, inst)
}
