package buildcontroller

import (
	"context"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// room bounds the deploys to a cluster that are in memory at once. A deploy that builds nothing needs no slot, so that all resources of a
// start deploy at the same time; but only some of their requests are on their way (see the crowd in package k8s), and the others would wait
// with their objects decoded, in three goroutines each: with 1,000 resources, that took more than 60 MB. A deploy that waits for something
// else, such as a kind that another resource defines, does not keep others out: after roomTime it no longer counts.
type room chan struct{}

const (
	// roomFor is twice the largest number of requests on their way, so that they never lack the next one.
	roomFor = 128
	// roomTime is ten times longer than a deploy takes when the cluster is far away and busy. Waits are logged from then on.
	roomTime = logstore.SayAfter
)

func newRoom() room { return make(room, roomFor) }

// enter waits for room, or until ctx is done. The caller must call leave. Nil has room for all.
func (r room) enter(ctx context.Context) (leave func()) {
	if r == nil {
		return func() {}
	}
	select {
	case r <- struct{}{}:
	case <-ctx.Done():
		return func() {}
	}
	once := sync.OnceFunc(func() { <-r })
	late := time.AfterFunc(roomTime, once)
	return func() {
		late.Stop()
		once()
	}
}
