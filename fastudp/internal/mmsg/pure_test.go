package mmsg

import (
	"testing"

	"golang.org/x/net/bpf"
)

func TestDepthFollowsWhatComes(t *testing.T) {
	for _, tt := range []struct{ depth, got, want int }{
		{2, 0, 2}, {2, 1, 2}, {2, 2, 4}, {16, 16, 32}, {32, 32, 32}, {32, 8, 32}, {32, 7, 16}, {16, 3, 8}, {4, 1, 4}, {4, 0, 2},
	} {
		if got := nextDepth(tt.depth, tt.got); got != tt.want {
			t.Errorf("asked for %d, got %d: next %d, want %d", tt.depth, tt.got, got, tt.want)
		}
	}
}

// The program must name sockets of the lanes and no others. Its random number is replaced by one of ours.
func TestSteeringPicksAmongTheSocketsAfterTheFirst(t *testing.T) {
	for _, tt := range []struct{ first, count int }{{1, 1}, {0, 1}, {1, 2}, {3, 16}, {0, 4}} {
		raw, err := program(tt.first, tt.count)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[int]bool)
		for random := range uint32(200) {
			seen[run(t, raw, random*0x9E3779B1)] = true
		}
		for i := range seen {
			if i < tt.first || i >= tt.first+tt.count {
				t.Errorf("%d sockets after %d: picked number %d", tt.count, tt.first, i)
			}
		}
		if len(seen) != tt.count {
			t.Errorf("%d sockets after %d: only %d of them picked", tt.count, tt.first, len(seen))
		}
	}
}

// run executes a program with random as what the kernel's random number is.
func run(t *testing.T, raw []bpf.RawInstruction, random uint32) int {
	t.Helper()
	instructions, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatalf("not a program: %v", raw)
	}
	for i, ins := range instructions {
		if ins == (bpf.LoadExtension{Num: bpf.ExtRand}) {
			instructions[i] = bpf.LoadConstant{Dst: bpf.RegA, Val: random}
		}
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	n, err := vm.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
