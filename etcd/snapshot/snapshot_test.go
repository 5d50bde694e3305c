package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/trident-dns/trident/etcd/mirror"
)

// two sections as a feed leaves them.
func two() []Section { return twoOf(1000) }

func twoOf(records int) []Section {
	var kvs []mirror.KV
	for i := range records {
		kvs = append(kvs, mirror.KV{
			Key:         fmt.Sprintf("/skydns/test/host%04d", i),
			Value:       bytes.Repeat([]byte{byte(i)}, i%50),
			ModRevision: int64(i) + 2,
			Lease:       int64(i) % 3 << 50,
		})
	}
	return []Section{
		{Range: mirror.Prefix("/skydns/test/"), At: position(1002), Confirmed: 1 << 40, KVs: slices.Values(kvs)},
		{Range: mirror.Single("/skydns/test"), At: position(1003), KVs: slices.Values([]mirror.KV{})},
	}
}

func position(rev int64) mirror.Position {
	return mirror.Position{ClusterID: 0xfedcba9876543210, RaftTerm: 7, Revision: rev, Began: 1_800_000_000_000_000_000}
}

// plain is a section that can be compared.
type plain struct {
	Range     mirror.Range
	At        mirror.Position
	Confirmed int64
	KVs       []mirror.KV
}

func plains(sections []Section) []plain {
	var all []plain
	for _, s := range sections {
		p := plain{s.Range, s.At, s.confirmed().Revision, nil}
		for kv := range s.KVs {
			if kv.Value == nil {
				kv.Value = []byte{}
			}
			p.KVs = append(p.KVs, kv)
		}
		p.At.Keys = int64(len(p.KVs))
		all = append(all, p)
	}
	return all
}

func read(t *testing.T, path string) []plain {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	first, second := plains(f.Sections), plains(f.Sections)
	if !reflect.DeepEqual(first, second) {
		t.Error("a second reading gives something else")
	}
	return first
}

func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := Write(path, two()); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), plains(two()); !reflect.DeepEqual(got, want) {
		t.Errorf("read %v\nwrote %v", got, want)
	}
}

func TestWriteLeavesNothingBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "snapshot")
	unsorted := two()
	unsorted[0].KVs = slices.Values([]mirror.KV{{Key: "/skydns/test/b"}, {Key: "/skydns/test/a"}})
	outside := two()
	outside[0].KVs = slices.Values([]mirror.KV{{Key: "/skydns/tesu"}})
	for name, bad := range map[string][]Section{"unsorted": unsorted, "outside of the range": outside} {
		if err := Write(path, bad); !errors.Is(err, ErrUnsorted) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := Write(path, two()); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files are %v, error %v", files, err)
	}
}

func TestOlderNeverReplacesNewer(t *testing.T) {
	at := func(cluster uint64, rev, began int64) []Section {
		s := two()[:1]
		s[0].Confirmed = 0
		s[0].At = mirror.Position{ClusterID: cluster, RaftTerm: 2, Revision: rev, Began: began}
		return s
	}
	confirmed := func(s []Section, rev int64) []Section {
		s[0].Confirmed = rev
		return s
	}
	for _, tt := range []struct {
		name     string
		old, new []Section
		refused  bool
	}{
		{"later revision", at(1, 10, 5), at(1, 11, 5), false},
		{"same revision", at(1, 10, 5), at(1, 10, 5), false},
		{"earlier revision", at(1, 10, 5), at(1, 9, 5), true},
		{"later revision of a process that began earlier", at(1, 10, 5), at(1, 11, 4), false},
		{"restored cluster", at(1, 10, 5), at(1, 3, 6), false},
		{"late write from before the restore", at(1, 3, 6), at(1, 2, 5), true},
		{"another cluster", at(1, 10, 5), at(2, 3, 6), false},
		{"late write of the cluster before", at(2, 3, 6), at(1, 11, 5), true},
		{"confirmed later", at(1, 10, 5), confirmed(at(1, 10, 5), 12), false},
		{"confirmed less", confirmed(at(1, 10, 5), 12), confirmed(at(1, 10, 5), 11), true},
		{"changed since it was confirmed", confirmed(at(1, 10, 5), 12), at(1, 13, 5), false},
		{"list without quorum", at(1, 10, 5), at(1, 9, 0), true},
	} {
		path := filepath.Join(t.TempDir(), "snapshot")
		if err := Write(path, tt.old); err != nil {
			t.Fatal(err)
		}
		err := Write(path, tt.new)
		if errors.Is(err, ErrOlder) != tt.refused || !tt.refused && err != nil {
			t.Errorf("%s: error %v, want refused %v", tt.name, err, tt.refused)
		}
		want := plains(tt.new)
		if tt.refused {
			want = plains(tt.old)
		}
		if got := read(t, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the file is of %v", tt.name, got[0].At)
		}
	}
}

// Each byte of a file, changed or cut off, must be noticed.
func TestDamageIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "snapshot")
	small := two()
	small[0].KVs = slices.Values([]mirror.KV{{Key: "/skydns/test/a", Value: []byte("1"), ModRevision: 3}})
	if err := Write(path, small); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "other")
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1 << rand.IntN(8)
		for _, text := range [][]byte{flipped, whole[:i]} {
			if err := os.WriteFile(damaged, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(damaged); !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d of %d: error %v", i, len(whole), err)
			}
		}
	}
	aside, err := SetAside(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Error(err)
	}
	if _, err := Open(damaged); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("set aside, the file is still there: %v", err)
	}
}

func TestLaterVersionIsNotCalledDamaged(t *testing.T) {
	var b bytes.Buffer
	if err := encode(&b, two()); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	text[len(magic)-1]++
	if _, err := parse(bytes.NewReader(text), int64(len(text)-4)); !errors.Is(err, ErrVersion) {
		t.Errorf("error is %v", err)
	}
}

// head is that of a file with n sections of everything.
func head(n int) []byte {
	var b bytes.Buffer
	sections := make([]Section, n)
	for i := range sections {
		sections[i] = Section{Range: mirror.Prefix(""), KVs: slices.Values([]mirror.KV{})}
	}
	if err := encode(&b, sections); err != nil {
		panic(err)
	}
	return b.Bytes()[:b.Len()-n-4] // without the ends of the sections
}

// What forbids to write is the position of a file that is whole. A damaged one is replaced.
func TestDamagedFileIsReplacedWhateverItsHeadSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	newer := twoOf(5)
	newer[0].At.Revision += 100
	if err := Write(path, newer); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-6]++
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, twoOf(5)); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), plains(twoOf(5)); !reflect.DeepEqual(got, want) {
		t.Errorf("read %v\nwrote %v", got, want)
	}
}

// Most of what the fuzzer makes of a head has a wrong checksum. So it may also make records, to go behind a good one.
func FuzzParse(f *testing.F) {
	var b bytes.Buffer
	if err := encode(&b, twoOf(5)); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, b.Bytes()[:b.Len()-4])
	f.Add([]byte{}, head(0))
	f.Add(head(1), []byte("\x02/a\x01v\x05\x00\x02/b\x00\x06\x07\x00"))
	f.Add(head(1), []byte("\x02/a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Add(head(2), []byte("\x02/a\x00\x05\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, start, rest []byte) {
		text := slices.Concat(start, rest)
		sections, err := parse(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
				t.Errorf("error is %v", err)
			}
			return
		}
		var again bytes.Buffer
		if err := encode(&again, sections); err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		body := again.Bytes()[:again.Len()-4]
		second, err := parse(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatalf("cannot be read again: %v", err)
		}
		if !reflect.DeepEqual(plains(sections), plains(second)) {
			t.Error("reads differently the second time")
		}
	})
}
