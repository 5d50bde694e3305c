package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// file is one file of an archive.
type file struct {
	path string // on disk
	name string // in the archive
	mode int64  // permissions there
}

// writeArchive writes files to a tar.gz that depends on nothing but their contents, names and modes, and on when: they
// are sorted, belong to user and group 0, and the compressed part has no name and no time of its own (RFC 1952, section
// 2.3.1).
func writeArchive(path string, files []file, when time.Time) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(content)), ModTime: when, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}
