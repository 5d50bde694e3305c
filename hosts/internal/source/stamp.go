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

// patience: how long a file must stand still before it is read.
const (
	// settleTime is longer than the pauses of a program that writes a file from one end to the other.
	settleTime = 50 * time.Millisecond
	// emptyTime is for a file that had content and is empty: most likely somebody is about to write it.
	emptyTime = 2 * time.Second
	// midLineTime is for a file that lost content and ends in the middle of a line.
	midLineTime = time.Second
)

// block is what programs write at a time. A file that is smaller appears whole or not at all.
const block = 4096

// patience returns how long a file with the stamp now must stand still before its content counts, given the stamp of
// the content that was loaded before. midLine is set when the last octet does not end a line.
func patience(now, loaded stamp, midLine bool) time.Duration {
	switch {
	case now.size == 0 && loaded.size > 0:
		return emptyTime
	case midLine && now.size >= block && now.size < loaded.size:
		return midLineTime
	}
	return settleTime
}

func stampOf(fi os.FileInfo) stamp {
	s := stamp{size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	s.inode, s.links = inodeOf(fi)
	return s
}
