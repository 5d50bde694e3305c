package mmsg

import "golang.org/x/net/bpf"

// program assembles the classic BPF program that picks a socket of a reuseport group for each datagram: at random
// among the count sockets that joined the group after the first ones. DNS has no order to keep between the datagrams
// of a client, and a random choice loads every socket alike, also when all questions come from one address, where
// the kernel's own choice, a hash of the addresses and ports, would take one socket alone.
//
// The kernel numbers the sockets of a group in the order in which they joined it, from zero.
func program(first, count int) ([]bpf.RawInstruction, error) {
	if count == 1 {
		return bpf.Assemble([]bpf.Instruction{bpf.RetConstant{Val: uint32(first)}})
	}
	return bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtRand},
		bpf.ALUOpConstant{Op: bpf.ALUOpMod, Val: uint32(count)},
		bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: uint32(first)},
		bpf.RetA{},
	})
}
