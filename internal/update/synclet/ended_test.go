//go:build linux

package synclet

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// dyingPods simulate containers that end, together with the synclet, soon after the conversation has begun.
type dyingPods struct{ process protocol.Process }

func (f dyingPods) Exec(_ context.Context, req k8s.ExecRequest) error {
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
	w.Append(&protocol.Hello{Program: program.Build()})
	w.Append(&f.process)
	if err := w.Flush(); err != nil {
		return err
	}
	return exitStatus(codeKilled)
}

// TestPoolEnding checks that a synclet killed with its container is not reported as out of memory if the container's
// process was reported as ending before.
func TestPoolEnding(t *testing.T) {
	for name, tt := range map[string]struct {
		process protocol.Process
		want    error
	}{
		"asked to end":       {protocol.Process{Starts: 1, Running: true, Ending: true}, errEnding},
		"ended":              {protocol.Process{Starts: 1, Code: 143, Ending: true}, errEnding},
		"killed by surprise": {protocol.Process{Starts: 1, Running: true}, ErrKilled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPool(dyingPods{tt.process})
				broken := make(chan error, 100)
				p.OnStatus(func(s Status) {
					if s.State == Broken {
						broken <- s.Err
					}
				})
				p.Keep([]model.ContainerRef{aContainer("c1", "p1")})
				if err := <-broken; !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				p.Close()
			})
		})
	}
}
