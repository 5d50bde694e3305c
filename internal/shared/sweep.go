package shared

import (
	"sync"

	"github.com/coredns/caddy"
)

// owners lists the owners of caddy instances that have not ended yet.
var owners struct {
	sync.Mutex
	live map[*Owner]struct{}
}

func remember(o *Owner) {
	owners.Lock()
	defer owners.Unlock()
	if owners.live == nil {
		owners.live = make(map[*Owner]struct{})
	}
	owners.live[o] = struct{}{}
}

// forget ends o, if it has not ended.
func forget(o *Owner) {
	owners.Lock()
	delete(owners.live, o)
	owners.Unlock()
	o.Release()
}

// sweep ends every owner whose instance caddy no longer lists. It is called from caddy's callbacks alone: they run on
// the goroutine that changes the list, which caddy hands out without a lock.
func sweep() {
	current := make(map[*Owner]struct{})
	for _, inst := range caddy.Instances() {
		inst.StorageMu.RLock()
		if o, ok := inst.Storage[ownerKey{}].(*Owner); ok {
			current[o] = struct{}{}
		}
		inst.StorageMu.RUnlock()
	}
	owners.Lock()
	var gone []*Owner
	for o := range owners.live {
		if _, ok := current[o]; !ok {
			gone = append(gone, o)
		}
	}
	owners.Unlock()
	for _, o := range gone {
		forget(o)
	}
}

// watchOthers has the instances without an owner call sweep, too, when a restart of theirs fails. When a reload brings
// the first block of ours and fails, the instance in force, which knows nothing of us, is the only one called back. It
// runs in OnStartup of the new instance: on the goroutine that will call back the old one.
func watchOthers() {
	for _, inst := range caddy.Instances() {
		inst.StorageMu.Lock()
		_, known := inst.Storage[ownerKey{}]
		if !known && inst.Storage != nil {
			inst.Storage[ownerKey{}] = watched{}
		}
		inst.StorageMu.Unlock()
		if !known {
			inst.OnRestartFailed = append(inst.OnRestartFailed, func() error {
				sweep()
				return nil
			})
		}
	}
}

// watched marks, in place of an owner, an instance that watchOthers has dealt with.
type watched struct{}
