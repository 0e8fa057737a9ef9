package opened

import (
	"context"
	"fmt"
	"os"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/kube"
	"github.com/hone-dev/hone/internal/cluster/storage/storages"
)

// DefaultPlace stands for the folder of this machine where ledgers are by default.
const DefaultPlace = "default"

// LedgerIn opens the ledger of a key in the storage at a URL, or at DefaultPlace. The caller closes the storage.
func (p *Project) LedgerIn(ctx context.Context, url string, key ledger.Key) (*ledger.Ledger, func() error, error) {
	in := p.ledgersAt(url)
	if url == DefaultPlace {
		in = command.Ledgers()
	}
	l, err := in.Open(ctx, key, nil)
	if err != nil {
		_ = in.Close()
		return nil, nil, fmt.Errorf("open the ledger in the other place: %w", err)
	}
	return l, in.Close, nil
}

// ledgersAt returns the ledgers in the storage at a URL.
func (p *Project) ledgersAt(url string) *ledger.Ledgers {
	open := func(context.Context) (storage.Storage, error) {
		return storages.Open(url, storages.Options{Namespace: p.Namespace, Cluster: func() (kube.Cluster, error) { return p.Kube() }})
	}
	return ledger.In(open, ledger.Options{Dir: command.LedgerDir(), Getenv: os.Getenv})
}
