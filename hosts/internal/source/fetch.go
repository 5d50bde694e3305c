package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
)

// Bounds of one transfer.
const (
	// fetchTimeout is for all of it. A list of 100 MB takes so long at 3 Mbit/s.
	fetchTimeout = 5 * time.Minute
	// headerTimeout is for the server to begin to answer.
	headerTimeout = 30 * time.Second
	// maxBody is for what is left after decompression, which a server could make of very little.
	maxBody = 256 << 20
	// maxRedirects: a few are how release pages and content networks work.
	maxRedirects = 5
	// maxValidator bounds the validators that are kept; real ones have less than 100 octets.
	maxValidator = 1024
)

// Why a transfer is refused. What the network reports is passed on as well.
var (
	ErrTooLarge = errors.New("answer is larger than 256 MiB")
	ErrEmpty    = errors.New("answer is empty")
	ErrRedirect = errors.New("redirect refused")
)

// StatusError is an answer with a status that brings no content.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("server answers %d %s", e.Code, http.StatusText(e.Code))
}

// isMissing reports whether the server says that there is nothing at the URL.
func isMissing(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusGone)
}

// validators let a server say that nothing changed (RFC 9110 section 8.8).
type validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// content is what was fetched, or read from a copy.
type content struct {
	part       Part
	validators validators
	hash       uint64
}

// fetched is what came of one transfer.
type fetched struct {
	content
	report      hostsfile.Report
	notModified bool
	copyErr     error // why no copy was kept
}

// client makes a connection for every transfer: the next one is an hour away.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSHandshakeTimeout:   headerTimeout,
		ResponseHeaderTimeout: headerTimeout,
		DisableKeepAlives:     true,
		ForceAttemptHTTP2:     true,
	},
	CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Scheme != via[0].URL.Scheme:
			return fmt.Errorf("%w: from %s to %s", ErrRedirect, via[0].URL.Scheme, req.URL.Scheme)
		case len(via) > maxRedirects:
			return fmt.Errorf("%w: more than %d", ErrRedirect, maxRedirects)
		}
		return nil
	},
}

// fetch asks for the URL of cfg, unless it still is what have stands for. What it returns was read to its end.
func fetch(ctx context.Context, cfg URLConfig, have validators) (fetched, error) {
	var f fetched
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.URL, nil)
	if err != nil {
		return f, err
	}
	req.Header.Set("User-Agent", "trident-hosts")
	req.Header.Set("Accept", "text/plain, */*;q=0.1")
	if have.ETag != "" {
		req.Header.Set("If-None-Match", have.ETag)
	}
	if have.LastModified != "" {
		req.Header.Set("If-Modified-Since", have.LastModified)
	}
	res, err := client.Do(req)
	if err != nil {
		return f, err
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode == http.StatusNotModified && have != (validators{}):
		f.notModified = true
		return f, nil
	case res.StatusCode != http.StatusOK:
		return f, &StatusError{res.StatusCode}
	}
	f.validators = validators{validator(res, "ETag"), validator(res, "Last-Modified")}
	return f, f.read(cfg, res)
}

// read parses the body, and keeps a copy of it.
func (f *fetched) read(cfg URLConfig, res *http.Response) error {
	body := &boundedReader{r: res.Body, left: maxBody}
	text := io.Reader(body)
	var keep *copyWriter
	if cfg.CacheDir != "" {
		if keep, f.copyErr = newCopy(cfg); keep != nil {
			defer keep.abandon()
			text = io.TeeReader(text, keep)
		}
	}
	h := &hashReader{r: text}
	h.hash.SetSeed(contentSeed)
	var err error
	if f.part, f.report, err = Parse(cfg.URL, cfg.Kind, h, max(res.ContentLength, 0)); err != nil {
		return err
	}
	if body.left == maxBody {
		return ErrEmpty // a list that lost all its names has a comment left that says so
	}
	f.hash = h.hash.Sum64()
	if keep != nil {
		f.copyErr = keep.finish(f.validators)
	}
	return nil
}

func validator(res *http.Response, header string) string {
	if v := res.Header.Get(header); len(v) <= maxValidator {
		return v
	}
	return ""
}

// boundedReader fails with ErrTooLarge where an io.LimitedReader pretends that the text ends.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
