package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coredns/caddy"
)

func named(subject string, run func(ctx context.Context) []Finding) Test {
	return Test{Subject: subject, Run: run}
}

func fine(context.Context) []Finding { return []Finding{Found(OK, "fine")} }

func TestFindingsAreInTheOrderOfThePlanAndSayWhereTheyBelong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Plan
		p.At("Corefile", 3, "hosts")
		p.Add(named("slow", func(context.Context) []Finding {
			time.Sleep(time.Second)
			return []Finding{Found(Warning, "two\nlines"), {Level: OK, Subject: "own"}}
		}))
		p.At("other", 7, "etcd")
		p.Add(named("quick", fine))
		got := p.Run(t.Context(), false)
		want := []Finding{
			{Warning, "Corefile", 3, "hosts", "slow", "two lines"},
			{OK, "Corefile", 3, "hosts", "own", ""},
			{OK, "other", 7, "etcd", "quick", "fine"},
		}
		if len(got) != len(want) {
			t.Fatalf("%+v", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%+v, want %+v", got[i], want[i])
			}
		}
	})
}

// More tests hang than may run at once, so that some never begin.
func TestTestsThatHangEndWithTheTimeAndAreProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var p Plan
		for range 3 * parallel {
			p.Add(named("hangs", func(context.Context) []Finding {
				<-release
				return nil
			}))
		}
		p.Add(named("quick", fine))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		found := p.Run(ctx, false)
		if took := time.Since(start); took != 10*time.Second+grace {
			t.Errorf("took %v, want the time of the check and %v", took, grace)
		}
		if len(found) != 3*parallel+1 {
			t.Errorf("%d findings", len(found))
		}
		for _, f := range found[:3*parallel] {
			if f.Level != Problem || f.Subject != "hangs" {
				t.Errorf("%+v, want a problem", f)
			}
		}
		close(release)
	})
}

func TestOfflineSkipsWhatNeedsTheNetwork(t *testing.T) {
	var p Plan
	p.Add(Test{Subject: "far", Network: true, Run: func(context.Context) []Finding {
		t.Error("was run")
		return nil
	}}, named("near", fine))
	found := p.Run(t.Context(), true)
	if len(found) != 2 || found[0].Level != Skipped || found[1].Level != OK {
		t.Errorf("%+v", found)
	}
}

func TestAnOfferWithoutAPlanIsNotEvenMade(t *testing.T) {
	c := caddy.NewTestController("dns", "")
	Offer(c, func() []Test {
		t.Error("tests were made")
		return nil
	})
	p := Begin(c)
	Offer(c, func() []Test { return []Test{named("x", fine)} })
	if found := p.Run(t.Context(), false); len(found) != 1 {
		t.Errorf("%+v", found)
	}
}

func TestReports(t *testing.T) {
	r := NewReport("Corefile", []Finding{
		{Problem, "Corefile", 3, "hosts", "file /x", "no such file"},
		{Warning, "Corefile", 0, "corefile", "snippet a", ""},
		{Skipped, "Corefile", 9, "etcd", "endpoint http://e", "needs the network"},
	})
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"problem  Corefile:3  hosts     file /x: no such file\n" +
		"warning  Corefile    corefile  snippet a\n" +
		"skipped  Corefile:9  etcd      endpoint http://e: needs the network\n" +
		"Corefile is not fine; problems: 1, warnings: 1\n"
	if text.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", text.String(), want)
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		OK       bool
		Problems int
		Findings []struct{ Level, Subject string }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.OK || got.Problems != 1 || len(got.Findings) != 3 || got.Findings[0].Level != "problem" {
		t.Errorf("%+v from %s", got, b.String())
	}
	b.Reset()
	if err := NewReport("", nil).WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"findings": []`) {
		t.Errorf("%v: %s", err, b.String())
	}
}
