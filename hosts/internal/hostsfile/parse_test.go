package hostsfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/trident-dns/trident/hosts/internal/wire"
)

// parse returns the entries of a hosts file as strings.
func parse(r io.Reader) ([]string, Report, error) {
	var got []string
	report, err := Parse(r, func(name []byte, a netip.Addr) error {
		got = append(got, a.String()+" "+string(wire.AppendText(nil, name)))
		return nil
	})
	return got, report, err
}

func parseList(r io.Reader) ([]string, Report, error) {
	var got []string
	report, err := ParseList(r, func(name []byte, below bool) error {
		s := string(wire.AppendText(nil, name))
		if below {
			s = "*." + s
		}
		got = append(got, s)
		return nil
	})
	return got, report, err
}

func TestHostsLines(t *testing.T) {
	tests := []struct {
		text     string
		want     []string
		problems []Reason
	}{
		{"10.0.0.1 a b\n", []string{"10.0.0.1 a.", "10.0.0.1 b."}, nil},
		{"  10.0.0.1\ta.\v b\f  \n", []string{"10.0.0.1 a.", "10.0.0.1 b."}, nil},
		{"10.0.0.1 A.Example.ORG", []string{"10.0.0.1 a.example.org."}, nil},
		{"# c\n#c\n10.0.0.1 a #b\n10.0.0.2 b#c d\n", []string{"10.0.0.1 a.", "10.0.0.2 b."}, nil},
		{"::ffff:10.0.0.1 a\n", []string{"10.0.0.1 a."}, nil},
		{"fe80::1%eth0 a\n", []string{"fe80::1 a."}, nil},
		{"10.0.0.1 *.a a.*.b\n", []string{"10.0.0.1 *.a.", "10.0.0.1 a.*.b."}, nil},
		{"10.0.0.1 a\n10.0.0.1 b\n", []string{"10.0.0.1 a.", "10.0.0.1 b."}, nil},
		{"\n\n \n", nil, nil},
		{"", nil, nil},
		// What cannot be used.
		{"010.0.0.1 a\n127.1 a\n0x7f.1 a\n10.0.0.1:80 a\nexample.com\n||ads.com^\n", nil, slices.Repeat([]Reason{BadAddress}, 6)},
		{"10.0.0.1\n10.0.0.1 # a\n", nil, []Reason{NoName, NoName}},
		{"10.0.0.1 a..b c\n", []string{"10.0.0.1 c."}, []Reason{BadName}},
		{"10.0.0.1 " + strings.Repeat("a", 64) + " b\n", []string{"10.0.0.1 b."}, []Reason{BadName}},
		{"10.0.0.1 b\xc3\xbccher a\x00b c\n", []string{"10.0.0.1 c."}, []Reason{BadEncoding, BadEncoding}},
		{"10.0.0.1 " + strings.Repeat("a", 2000) + " b\n", []string{"10.0.0.1 b."}, []Reason{TooLong}},
		{strings.Repeat("1", 2000) + " a\n10.0.0.1 b\n", []string{"10.0.0.1 b."}, []Reason{TooLong}},
		// Ends of lines.
		{"10.0.0.1 a\r\n10.0.0.2 b\r\n", []string{"10.0.0.1 a.", "10.0.0.2 b."}, nil},
		{"10.0.0.1 a\r10.0.0.2 b\r", []string{"10.0.0.1 a.", "10.0.0.2 b."}, nil},
		{"#c\r10.0.0.2 b", []string{"10.0.0.2 b."}, nil},
	}
	for _, tt := range tests {
		for how, r := range map[string]io.Reader{
			"at once": strings.NewReader(tt.text), "by the octet": iotest.OneByteReader(strings.NewReader(tt.text)),
		} {
			got, report, err := parse(r)
			var reasons []Reason
			for _, r := range Reasons() {
				reasons = append(reasons, slices.Repeat([]Reason{r}, report.Unusable[r])...)
			}
			if err != nil || !slices.Equal(got, tt.want) || !slices.Equal(reasons, tt.problems) || report.Names != len(got) {
				t.Errorf("%.60q %s: %q, %v (%v), %v", tt.text, how, got, reasons, report.First, err)
			}
		}
	}
}

func TestProblemsHaveTheNumberOfTheirLine(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		_, report, err := parse(strings.NewReader(strings.Join([]string{"10.0.0.1 a", "", "bad b", "#", "10.0.0.1"}, end)))
		if err != nil || len(report.First) != 2 || report.First[0].Line != 3 || report.First[1].Line != 5 {
			t.Errorf("%q: %v, %v", end, report.First, err)
		}
	}
}

func TestOnlyTheFirstProblemsAreDescribed(t *testing.T) {
	_, report, _ := parse(strings.NewReader(strings.Repeat("bad\n", 1000)))
	if len(report.First) != maxProblems || report.Problems() != 1000 {
		t.Errorf("%d described, %d counted", len(report.First), report.Problems())
	}
}

// A line of any length is read in the memory of one buffer, and what follows it is not lost.
func TestLinesLongerThanTheBuffer(t *testing.T) {
	const n = 50000
	var b strings.Builder
	b.WriteString("10.0.0.1")
	for i := range n {
		fmt.Fprintf(&b, " n%d.example.org", i)
	}
	b.WriteString("#" + strings.Repeat("c", bufferSize*2) + "\n10.0.0.2 last\n")
	got, report, err := parse(strings.NewReader(b.String()))
	if err != nil || report.Problems() > 0 || len(got) != n+1 || got[n] != "10.0.0.2 last." || got[n-1] != "10.0.0.1 n49999.example.org." {
		t.Errorf("%d entries, %v, %v", len(got), report, err)
	}
}

func TestListLines(t *testing.T) {
	tests := []struct {
		text     string
		want     []string
		problems int
	}{
		{"0.0.0.0 ads.example\n:: ads.example b.example\n", []string{"ads.example.", "ads.example.", "b.example."}, 0},
		{"ads.example\n*.ads.example # why\n*.zip\n", []string{"ads.example.", "*.ads.example.", "*.zip."}, 0},
		{"0.0.0.0 *.ads.example\n", []string{"*.ads.example."}, 0},
		{"under_score.example\nxn--bcher-kva.example.\n", []string{"under_score.example.", "xn--bcher-kva.example."}, 0},
		// What a hosts file has for the machine itself is no list.
		{"127.0.0.1 localhost localhost.localdomain\n255.255.255.255 broadcasthost\n0.0.0.0 0.0.0.0\n", nil, 0},
		// Other kinds of list, and what is no list at all.
		{"||ads.example^\n! title\n@@||good.example^\naddress=/ads.example/\n[Adblock Plus 2.0]\n/banner/\n", nil, 6},
		{"<html>\n<body>login\n</body>\nlogin\n", nil, 4},
		{"ads.example other.example\n", nil, 1},
		{"ads..example\n" + strings.Repeat("a", 64) + ".example\n", nil, 2},
		{"0.0.0.0\n", nil, 1},
	}
	for _, tt := range tests {
		got, report, err := parseList(strings.NewReader(tt.text))
		if err != nil || !slices.Equal(got, tt.want) || report.Problems() != tt.problems {
			t.Errorf("%q: %q, %d problems %v, %v", tt.text, got, report.Problems(), report.First, err)
		}
	}
}

func toUTF16(text string, order binary.AppendByteOrder, bom bool) []byte {
	var b []byte
	if bom {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func TestEncodings(t *testing.T) {
	const text = "10.0.0.1 a\r\n# \u00fc \U0001f600\r\n10.0.0.2 b\r\n"
	want := []string{"10.0.0.1 a.", "10.0.0.2 b."}
	var little, big binary.AppendByteOrder = binary.LittleEndian, binary.BigEndian
	tests := map[string]struct {
		text []byte
		err  error
	}{
		"UTF-8":                          {[]byte(text), nil},
		"UTF-8 with mark":                {[]byte("\xef\xbb\xbf" + text), nil},
		"UTF-16LE with mark":             {toUTF16(text, little, true), nil},
		"UTF-16BE with mark":             {toUTF16(text, big, true), nil},
		"UTF-16LE":                       {toUTF16(text, little, false), ErrUTF16},
		"UTF-16BE":                       {toUTF16(text, big, false), ErrUTF16},
		"UTF-16LE, cut off":              {toUTF16(text, little, true)[:21], ErrHalfUTF16},
		"UTF-32LE":                       {append([]byte{0xff, 0xfe, 0, 0}, "1\x00\x00\x00"...), ErrUTF32},
		"UTF-32BE":                       {append([]byte{0, 0, 0xfe, 0xff}, "\x00\x00\x001"...), ErrUTF32},
		"gzip":                           {[]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), ErrCompressed},
		"zip":                            {[]byte("PK\x03\x04"), ErrCompressed},
		"ISO 8859-1 in a comment":        {[]byte(strings.Replace(text, "\u00fc", "\xfc", 1)), nil},
		"lone surrogate in a comment":    {append(toUTF16(text+"#", little, true), 0x00, 0xd8), nil},
		"half a pair, then another char": {append(toUTF16(text+"#", little, true), 0x00, 0xd8, 'x', 0), nil},
	}
	for name, tt := range tests {
		for how, r := range map[string]io.Reader{
			"at once": bytes.NewReader(tt.text), "by the octet": iotest.OneByteReader(bytes.NewReader(tt.text)),
		} {
			got, _, err := parse(r)
			if !errors.Is(err, tt.err) || (err == nil && !slices.Equal(got, want)) {
				t.Errorf("%s, %s: %q, %v", name, how, got, err)
			}
		}
	}
}

func TestAReadThatFailsIsReported(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, text := range []string{"", "10.0.0.1", "10.0.0.1 a", "10.0.0.1 a\n#c", "10.0.0.1 a\n"} {
		_, _, err := parse(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTheReceiverCanSkipOrStop(t *testing.T) {
	full := errors.New("full")
	n := 0
	report, err := Parse(strings.NewReader("10.0.0.1 a b c\n10.0.0.2 d\n"), func([]byte, netip.Addr) error {
		switch n++; n {
		case 2:
			return fmt.Errorf("%w: no room", ErrSkip)
		case 4:
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || report.Names != 2 || report.Unusable[OverLimit] != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Whatever the text, reading it in pieces makes no difference, what comes out is names and addresses, everything on
// the lines is accounted for, and the errors are those of the package.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"10.0.0.1 a b\r\n#c\r\n::1 c", "\xff\xfe1\x000\x00", "\xef\xbb\xbf1.1.1.1 a", "*.a.b\nads.example x\n",
		"10.0.0.1\n", "fe80::1%lo a", strings.Repeat("a", 1100), "1.1.1.1 " + strings.Repeat("b", 1030) + " c",
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, list bool) {
		run := parse
		if list {
			run = parseList
		}
		got, report, err := run(bytes.NewReader(text))
		again, reportAgain, errAgain := run(iotest.HalfReader(bytes.NewReader(text)))
		if !slices.Equal(got, again) || report.Unusable != reportAgain.Unusable || !errors.Is(errAgain, err) {
			t.Fatalf("in pieces %q %v %v, at once %q %v %v", again, reportAgain, errAgain, got, report, err)
		}
		for _, e := range []error{ErrUTF16, ErrUTF32, ErrCompressed, ErrHalfUTF16} {
			if errors.Is(err, e) {
				return
			}
		}
		if err != nil {
			t.Fatalf("error outside of the set: %v", err)
		}
		if report.Names != len(got) || len(report.First) > maxProblems || (report.Problems() > 0) != (len(report.First) > 0) {
			t.Fatalf("%d entries, report %+v", len(got), report)
		}
		for _, p := range report.First {
			if p.Line < 1 || p.Line > 1+bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r")) || p.Detail == "" {
				t.Fatalf("problem %+v", p)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	for i := range 100000 {
		fmt.Fprintf(&text, "0.0.0.0 ads%d.tracker%d.example.com\n", i, i%977)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(bytes.NewReader(text.Bytes()), func([]byte, netip.Addr) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
