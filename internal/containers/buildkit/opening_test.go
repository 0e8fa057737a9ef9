package buildkit_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// pods has one daemon, whose connections count as open at once.
type pods struct{ far chan net.Conn }

func (p pods) Builder(model.BuilderPod, int) (buildkit.Pod, error) { return p, nil }
func (p pods) Namespace() string                                   { return "here" }
func (p pods) Name() string                                        { return "hone-builder" }
func (p pods) String() string                                      { return "rootless" }

func (p pods) Dial(context.Context, func(error)) (net.Conn, error) {
	near, far := net.Pipe()
	p.far <- far
	return near, nil
}

func (p pods) Ready(context.Context) (string, error) { return "", nil }

// one is a listener with the connections of a channel.
type one struct {
	net.Listener
	far    chan net.Conn
	closed context.Context
	close  context.CancelFunc
}

func (l one) Accept() (net.Conn, error) {
	select {
	case c := <-l.far:
		return c, nil
	case <-l.closed.Done():
		return nil, net.ErrClosed
	}
}

func (l one) Close() error   { l.close(); return nil }
func (l one) Addr() net.Addr { return &net.UnixAddr{} }

// TestOpening: a daemon in a pod starts until its connection is open. One whose connection is open has to answer.
func TestOpening(t *testing.T) {
	for name, tt := range map[string]struct {
		accepts, starts bool
		want            string
	}{
		"not open": {false, true, "it runs, and the connection to it is not open yet"},
		"open":     {true, false, "it accepts connections and answers nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := pods{make(chan net.Conn, 16)}
				choice, err := buildkit.Choose("", p)
				if err != nil {
					t.Fatal(err)
				}
				defer choice.Close()
				if tt.accepts {
					server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
						<-s.Context().Done()
						return s.Context().Err()
					}))
					closed, close := context.WithCancel(t.Context())
					var serving sync.WaitGroup
					serving.Go(func() { _ = server.Serve(one{far: p.far, closed: closed, close: close}) })
					defer serving.Wait()
					defer server.Stop()
				}
				_, err = choice.For(model.Builder{At: model.BuilderInCluster}).Ping(t.Context())
				if docker.IsStarting(err) != tt.starts || !docker.IsUnreachable(err) || !strings.Contains(problem.Text(err), tt.want) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
