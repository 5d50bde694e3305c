package hosts

import (
	"sync"

	"github.com/trident-dns/trident/hosts/internal/table"
)

// fewTables is how many tables of a block are collected without an allocation.
const fewTables = 8

// inquiry is what one question is looked up with. It is used again for others: CoreDNS serves each question on a new
// goroutine, and to make room for this on its stack would take as long as the whole lookup.
type inquiry struct {
	name   table.Question
	tables [fewTables]*table.Table
	out    addressRecords
}

var inquiries = sync.Pool{New: func() any { return new(inquiry) }}

// release gives in back. Tables and records that it knew are others' from now on.
func (in *inquiry) release() {
	in.tables, in.out = [fewTables]*table.Table{}, addressRecords{}
	inquiries.Put(in)
}
