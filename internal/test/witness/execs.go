//go:build linux

package witness

import (
	"context"
	"fmt"
	"sync"

	"github.com/containerd/containerd/api/events"
	eventsapi "github.com/containerd/containerd/api/services/events/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// execAdded is the topic that containerd publishes when a process is about to be started in a running container: once
// for each exec, whatever client and connection requested it.
const execAdded = "/tasks/exec-added"

// Execs counts the execs in each container. Make it with CountExecs.
type Execs struct {
	conn   *grpc.ClientConn
	cancel context.CancelFunc
	done   chan struct{}

	mu  sync.Mutex
	of  map[string]int // by container
	err error
}

// CountExecs starts counting, for the containers of the containerd at a socket.
func CountExecs(ctx context.Context, socket string) (*Execs, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("containerd at %s: %w", socket, err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // Close ends it
	stream, err := eventsapi.NewEventsClient(conn).Subscribe(ctx, &eventsapi.SubscribeRequest{
		Filters: []string{fmt.Sprintf("topic==%q", execAdded)},
	})
	if err != nil {
		cancel()
		_ = conn.Close()
		return nil, fmt.Errorf("listen to containerd at %s: %w", socket, err)
	}
	e := &Execs{conn: conn, cancel: cancel, done: make(chan struct{}), of: map[string]int{}}
	go func() {
		defer close(e.done)
		for {
			envelope, err := stream.Recv()
			if err != nil {
				e.mu.Lock()
				e.err = err
				e.mu.Unlock()
				return
			}
			var added events.TaskExecAdded
			if proto.Unmarshal(envelope.GetEvent().GetValue(), &added) == nil {
				e.mu.Lock()
				e.of[added.ContainerID]++
				e.mu.Unlock()
			}
		}
	}()
	return e, nil
}

// Of returns the number of execs in the given containers so far. It fails if the counting has ended.
func (e *Execs) Of(ids []string) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, id := range ids {
		n += e.of[id]
	}
	if e.err != nil {
		return n, fmt.Errorf("count execs: %w", e.err)
	}
	return n, nil
}

// Close ends the counting.
func (e *Execs) Close() {
	e.cancel()
	<-e.done
	_ = e.conn.Close()
}
