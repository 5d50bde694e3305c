package hostsfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Text that is refused as a whole. Parsing returns these, what the reader returns and what the receiver of the
// entries returns, and no other error.
var (
	ErrUTF16      = errors.New("text is UTF-16 without a byte-order mark; save it as UTF-8")
	ErrUTF32      = errors.New("text is UTF-32; save it as UTF-8")
	ErrCompressed = errors.New("file is compressed; unpack it first")
	ErrHalfUTF16  = errors.New("UTF-16 text ends in the middle of a character")
)

// magics are the first octets of what people download and forget to unpack.
var magics = [][]byte{
	{0x1f, 0x8b},                         // gzip
	{'P', 'K', 3, 4},                     // zip
	{'B', 'Z', 'h'},                      // bzip2
	{0xfd, '7', 'z', 'X', 'Z', 0},        // xz
	{0x28, 0xb5, 0x2f, 0xfd},             // zstd
	{'7', 'z', 0xbc, 0xaf, 0x27, 0x1c},   // 7z
	{0x04, 0x22, 0x4d, 0x18},             // lz4
	{'R', 'a', 'r', '!', 0x1a, 0x07},     // rar
	{0x1f, 0x9d},                         // compress
	{0x89, 'L', 'Z', 'O', 0, 0x0d, 0x0a}, // lzop
}

// decode returns the text in r as UTF-8 without byte-order mark. Text without a mark goes through as it is.
func decode(r io.Reader) (io.Reader, error) {
	br := bufio.NewReaderSize(r, 4096)
	head, err := br.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, m) {
			return nil, ErrCompressed
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}):
		return nil, ErrUTF32
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err := br.Discard(3)
		return br, err
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		_, err := br.Discard(2)
		return &utf16Reader{r: br, order: binary.LittleEndian}, err
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		_, err := br.Discard(2)
		return &utf16Reader{r: br, order: binary.BigEndian}, err
	case len(head) >= 2 && (head[0] == 0) != (head[1] == 0): // ASCII in UTF-16: every other octet is 0
		return nil, ErrUTF16
	}
	return br, nil
}

// utf16Reader turns UTF-16 into UTF-8.
type utf16Reader struct {
	r     io.Reader
	order binary.ByteOrder
	in    [4096]byte
	n     int    // octets in in
	out   []byte // UTF-8 not yet read
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.more()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// more reads and converts. A high surrogate at the end waits for its partner.
func (u *utf16Reader) more() {
	n, err := u.r.Read(u.in[u.n:])
	u.n += n
	u.out = u.out[:0]
	i := 0
	for i+2 <= u.n {
		c := rune(u.order.Uint16(u.in[i:]))
		if utf16.IsSurrogate(c) {
			if i+4 > u.n && err == nil {
				break
			}
			if i+4 <= u.n {
				if r := utf16.DecodeRune(c, rune(u.order.Uint16(u.in[i+2:]))); r != utf8.RuneError {
					u.out = utf8.AppendRune(u.out, r)
					i += 4
					continue
				}
			}
		}
		u.out = utf8.AppendRune(u.out, c) // a lone surrogate becomes U+FFFD, which no name may contain
		i += 2
	}
	u.n = copy(u.in[:], u.in[i:u.n])
	if err != nil {
		if errors.Is(err, io.EOF) && u.n > 0 {
			err = ErrHalfUTF16
		}
		u.err = err
	}
}
