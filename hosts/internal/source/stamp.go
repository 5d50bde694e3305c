package source

import (
	"os"
	"time"
)

// stamp is what the file system says about a file. Two stamps that are equal mean the same content, as far as the
// file system can tell: a writer may set the modification time back, but not the change time.
type stamp struct {
	size  int64
	mtime int64 // nanoseconds since 1970
	inode inode
	links uint64 // names the file has; 0 means that it was deleted or replaced and only a mount still shows it
}

// How long a file must stand still before it is read.
const (
	// settleTime is longer than the pauses of a program that writes a file from one end to the other.
	settleTime = 100 * time.Millisecond
	// suspectTime is for a file that looks like the beginning of one.
	suspectTime = time.Second
	// busyTime is for a file that somebody has open to write, and for one that had content and is empty: most likely
	// somebody is about to write. Who keeps files open for ever does not stop them from being read.
	busyTime = 2 * time.Second
)

// block is what programs write at a time. A file that is smaller appears whole or not at all.
const block = 4096

// hints is what else is known about a file.
type hints struct {
	midLine bool // its last octet does not end a line
	writer  bool // somebody has it open to write
}

// patience returns how long a file with the stamp now must stand still before its content counts, given the stamp of
// the content that was loaded before.
func patience(now, loaded stamp, h hints) time.Duration {
	switch {
	case h.writer, now.size == 0 && loaded.size > 0:
		return busyTime
	case h.midLine && now.size >= block, loaded.size >= block && now.size < loaded.size/2:
		return suspectTime
	}
	return settleTime
}

func stampOf(fi os.FileInfo) stamp {
	s := stamp{size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	s.inode, s.links = inodeOf(fi)
	return s
}
