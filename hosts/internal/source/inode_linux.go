package source

import (
	"os"
	"syscall"
)

// trustStamp: a file whose stamp did not change has the content that it had.
const trustStamp = true

// inode tells a file from another of the same name, and its content from earlier content.
type inode struct{ dev, ino, ctime uint64 }

func inodeOf(fi os.FileInfo) (inode, uint64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}, 1
	}
	return inode{
		dev:   uint64(st.Dev), //nolint:unconvert // not the same type on every architecture
		ino:   st.Ino,
		ctime: uint64(st.Ctim.Nano()),
	}, uint64(st.Nlink) //nolint:unconvert // not the same type on every architecture
}
