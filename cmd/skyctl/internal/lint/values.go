package lint

import (
	"encoding/json"
	"fmt"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// values looks at each key by itself.
func (d *data) values() {
	byPath := map[string]string{}
	for _, k := range d.keys {
		if record.Config(d.prefix, k.Key) {
			var object map[string]any
			if err := json.Unmarshal([]byte(k.Value), &object); err != nil {
				d.add(Error, "config", k, fmt.Sprintf("the configuration is no JSON object: %v", err))
			}
			continue
		}
		path, err := d.prefix.Path(k.Key)
		switch {
		case k.Err != nil:
			d.add(Error, "value", k, k.Err.Error())
		case k.Role != record.Stub && len(k.RRs()) == 0:
			d.add(Warning, "empty", k, "the value holds no record: neither host nor text, nor type and rdata")
		}
		if err != nil {
			continue
		}
		if want := string(d.prefix) + "/" + path; want != k.Key && k.Role != record.Stub {
			d.add(Warning, "case", k, fmt.Sprintf("the server looks for %s; it finds this key if what differs is below the zone's name", want))
		}
		if other, ok := byPath[path]; ok {
			d.add(Warning, "same-name", k, fmt.Sprintf("%s is a key for the same name", other))
		}
		byPath[path] = k.Key
		if k.Err == nil {
			for _, text := range skydns.Oddities([]byte(k.Value)) {
				d.add(Warning, "odd", k, text)
			}
		}
	}
}
