package deploy

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"

	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestParallelism applies 30 independent objects to an API server that answers after 200 ms: ten at a time take at most a fifth of the
// time that one at a time takes, and the result is in the same order (K13).
func TestParallelism(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apply := func(n int) (applied []model.AppliedObject, took time.Duration) {
			c := fakeCluster(t)
			c.dyn.(*deploytest.Server).Delay = 200 * time.Millisecond
			var all []string
			for i := range 30 {
				all = append(all, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%02d}, data: {key: value}}", i))
			}
			objects := c.inject(t, strings.Join(all, "\n---\n"))
			began := time.Now()
			applied, _, err := c.apply(t, objects, WithParallelism(n))
			if err != nil {
				t.Fatal(err)
			}
			return applied, time.Since(began)
		}
		one, slow := apply(1)
		ten, quick := apply(10)
		if 5*quick > slow {
			t.Errorf("ten at a time take %s, one at a time %s", quick, slow)
		}
		for _, list := range [][]model.AppliedObject{one, ten} {
			for i := range list {
				list[i].UID = ""
			}
		}
		if diff := cmp.Diff(one, ten); diff != "" || len(ten) != 30 {
			t.Errorf("applied (-one +ten at a time):\n%s", diff)
		}
	})
}

// far is the way to an API server that answers late. It counts the requests that are on their way.
type far struct {
	next  http.RoundTripper
	delay time.Duration

	mu         sync.Mutex
	now, most  int // guarded by mu
	everything int // guarded by mu
}

// RoundTrip implements http.RoundTripper.
func (f *far) RoundTrip(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.now++
	f.most, f.everything = max(f.most, f.now), f.everything+1
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.now--
		f.mu.Unlock()
	}()
	select {
	case <-time.After(f.delay):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return f.next.RoundTrip(req)
}

// TestRealParallelism applies 30 independent objects to a real API server that is 200 ms away: ten requests are on
// their way at a time, their total number is the same as one by one, and the result is in the same order (K13).
func TestRealParallelism(t *testing.T) {
	t.Parallel()
	var before []model.AppliedObject
	requests := 0
	for _, n := range []int{1, 10} {
		c := realCluster(t)
		cfg, way := realConfig(t), &far{delay: 200 * time.Millisecond}
		if n == 1 {
			way.delay = 0 // the requests are the same
		}
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			way.next = next
			return way
		})
		dyn, err := dynamic.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for i := range 30 {
			all = append(all, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%02d}, data: {key: value}}", i))
		}
		objects := c.inject(t, strings.Join(all, "\n---\n"))
		c.dyn = dyn
		applied, _, err := c.apply(t, objects, WithParallelism(n))
		if err != nil {
			t.Fatal(err)
		}
		if way.most != n || n > 1 && way.everything != requests {
			t.Errorf("with %d at a time: %d requests, at most %d at a time; one by one %d", n, way.everything, way.most, requests)
		}
		requests = way.everything
		for i := range applied {
			applied[i].UID, applied[i].Namespace = "", ""
		}
		if diff := cmp.Diff(before, applied); n > 1 && diff != "" || len(applied) != 30 {
			t.Errorf("applied (-one +ten at a time):\n%s", diff)
		}
		before = applied
	}
}
