package buildanddeploy

import (
	"context"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
	"github.com/hone-dev/hone/internal/cluster/storage/memory"
)

// sharing returns a Cluster of one machine that shares a storage with others.
func sharing(t *testing.T, in storage.Storage, command string) *Cluster {
	t.Helper()
	c := &Cluster{namespace: "dev", holding: newHolding(), origin: ledger.Origin{Command: command}}
	c.ledgers = ledger.In(func(context.Context) (storage.Storage, error) { return in, nil }, ledger.Options{Dir: t.TempDir() + "/ledger"})
	l, err := c.ledgers.Open(t.Context(), ledger.Key{Cluster: "c", Project: "p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.memory = &deploy.Memory{Ledger: l}
	return c
}

// TestLease: the operations of one machine share the lease, and those of another machine wait for all of them.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := memory.New()
		mine, theirs := sharing(t, in, "up"), sharing(t, in, "ci")
		var ends []func()
		for range 2 {
			_, done, err := mine.hold(t.Context(), logstore.Discard)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, done)
		}
		var said strings.Builder
		begun := make(chan func())
		go func() {
			_, done, err := theirs.hold(t.Context(), logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) }))
			if err != nil {
				t.Error(err)
			}
			begun <- done
		}()
		time.Sleep(time.Minute)
		ends[0]()
		time.Sleep(time.Minute)
		select {
		case <-begun:
			t.Fatal("the other machine did not wait for all operations")
		default:
		}
		ends[1]()
		done := <-begun
		done()
		if got := said.String(); !strings.Contains(got, "Waiting for hone up of ") {
			t.Errorf("the other machine said %q", got)
		}
		if by, err := mine.memory.Holder(t.Context(), "dev"); by != nil || err != nil {
			t.Errorf("afterwards the lease is held by %v, %v", by, err)
		}
	})
}

// fullFolder is a folder on a disk without space for a lease.
type fullFolder struct{ *folder.Storage }

// SaveBrief implements storage.Local.
func (fullFolder) SaveBrief(context.Context, string, []byte, storage.Version) (storage.Version, error) {
	return storage.None, &fs.PathError{Op: "write", Path: "lease", Err: syscall.ENOSPC}
}

// TestLeaseOnAFullDisk: the loop goes on while the disk of this machine is full.
func TestLeaseOnAFullDisk(t *testing.T) {
	c := sharing(t, fullFolder{folder.New(t.TempDir())}, "up")
	var said strings.Builder
	_, done, err := c.hold(t.Context(), logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) }))
	if err != nil || !strings.Contains(said.String(), "no space left on device") {
		t.Fatalf("%v, said %q", err, said.String())
	}
	done()
	if c.holding.lease != nil || c.holding.users != 0 {
		t.Error("it counts as held")
	}
}
