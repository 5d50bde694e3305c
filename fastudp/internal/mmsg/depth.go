package mmsg

// nextDepth says how many datagrams to ask for after a read that asked for depth and got got. It doubles when the
// socket had at least as many as asked for, and goes half way back when it had less than a quarter. So an idle server
// keeps the buffers of few datagrams, and one under load asks for as many as come.
func nextDepth(depth, got int) int {
	switch {
	case got >= depth:
		return min(2*depth, MaxBatch)
	case got < depth/4:
		return depth / 2
	default:
		return depth
	}
}

// minDepth is what a quiet socket is asked for: two, because a read that gets less than it asked for has seen the
// socket empty.
const minDepth = 2
