package embedded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// ErrSeed says that a seed file cannot be used. What wraps it names the line.
var ErrSeed = errors.New("seed")

// maxSeed bounds a seed file: it has to fit into one request, of which etcd takes 1.5 MiB, with room for its framing.
const maxSeed = 1 << 20

// pair is a key and its value.
type pair struct {
	key, value string
}

func readSeed(path string) ([]pair, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSeed, err)
	}
	seed, err := parseSeed(text)
	if err != nil {
		return nil, fmt.Errorf("%w %s, %w", ErrSeed, path, err)
	}
	return seed, nil
}

// parseSeed reads lines of a key, white space, and the value, which reaches to the end of the line. Empty lines and
// those that begin with # are skipped.
func parseSeed(text []byte) ([]pair, error) {
	if len(text) > maxSeed {
		return nil, fmt.Errorf("%d bytes, at most %d are possible", len(text), maxSeed)
	}
	var seed []pair
	seen := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxSeed+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return nil, fmt.Errorf("line %d: no value after the key %q", n, line)
		}
		p := pair{line[:i], strings.TrimSpace(line[i:])}
		if first, ok := seen[p.key]; ok {
			return nil, fmt.Errorf("line %d: key %q is on line %d as well", n, p.key, first)
		}
		seen[p.key] = n
		if seed = append(seed, p); len(seed) > maxTxnOps {
			return nil, fmt.Errorf("line %d: more than %d keys", n, maxTxnOps)
		}
	}
	return seed, lines.Err()
}

// sow writes the seed in one transaction, when nothing was ever written.
func sow(ctx context.Context, server *etcdserver.EtcdServer, seed []pair) error {
	if len(seed) == 0 {
		return nil
	}
	client := v3client.New(server)
	defer client.Close()
	// An empty store has revision 1, one that was emptied has not.
	resp, err := client.Get(ctx, seed[0].key, clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	if resp.Header.Revision > 1 {
		return nil
	}
	ops := make([]clientv3.Op, len(seed))
	absent := make([]clientv3.Cmp, len(seed))
	for i, p := range seed {
		ops[i] = clientv3.OpPut(p.key, p.value)
		// Clients are served already, and may have been quicker.
		absent[i] = clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)
	}
	_, err = client.Txn(ctx).If(absent...).Then(ops...).Commit()
	return err
}
