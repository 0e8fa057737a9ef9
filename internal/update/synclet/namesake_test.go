//go:build linux

package synclet

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// namesakes simulate one name of a container that leads to one run after the other.
type namesakes struct {
	mu   sync.Mutex
	run  uint64
	ends context.CancelFunc
}

// restart ends the run of the container, and begins the next.
func (f *namesakes) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run++
	f.ends()
}

func (f *namesakes) Exec(ctx context.Context, req k8s.ExecRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	run := f.run
	f.ends = cancel
	f.mu.Unlock()
	if len(req.Argv) > 2 && req.Argv[2] == again {
		return exitStatus(94)
	}
	prog, err := program.For("amd64")
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, req.Stdin, int64(len(prog))); err != nil {
		return err
	}
	_, _ = io.WriteString(req.Stdout, protocol.Preamble)
	if _, err := protocol.NewReader(req.Stdin).Next(); err != nil {
		return err
	}
	w := protocol.NewWriter(req.Stdout)
	w.Append(&protocol.Hello{Program: program.Build(), Run: run})
	if err := w.Flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return exitStatus(codeKilled)
}

// TestPoolNamesake restarts a container before the cluster says so: the name leads to the next run, which lacks the files, and there
// is no conversation until the container has its new id.
func TestPoolNamesake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &namesakes{run: 1}
		p := NewPool(f)
		defer p.Close()
		old := aContainer("c1", "p1")
		p.Keep([]model.ContainerRef{old})
		_, err := p.Conversation(t.Context(), old)
		check(t, err)
		f.restart()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := p.Conversation(ctx, old); err == nil {
			t.Error("there is a conversation with the next run under the id of the one before")
		} else if !errors.Is(err, errRestarted) && ctx.Err() == nil {
			t.Errorf("no conversation: %v", err)
		}
		if p.Answers(t.Context(), "c1") {
			t.Errorf("it answers")
		}
		next := aContainer("c2", "p1")
		p.Keep([]model.ContainerRef{next})
		_, err = p.Conversation(t.Context(), next)
		check(t, err)
	})
}
