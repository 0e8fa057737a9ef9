package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
)

const manyResources = 1000

// BenchmarkList lists 1,000 resources over the socket.
func BenchmarkList(b *testing.B) {
	f := serveLive(b)
	f.declare(manyResources)
	for name, accept := range map[string]string{"Table": "application/json;as=Table;v=v1;g=meta.k8s.io", "JSON": "application/json"} {
		b.Run(name, func(b *testing.B) {
			c, base := f.client("unix")
			for range b.N {
				r, _ := http.NewRequest("GET", base+"/apis/hone.dev/v1alpha1/resources", nil)
				r.Header.Set("Accept", accept)
				resp, err := c.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				n, _ := io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				b.SetBytes(n)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/list")
		})
	}
}

// BenchmarkFirstWatchEvent is the time from a dispatch to its event in the client's hands, with 1,000 resources and ten
// watches.
func BenchmarkFirstWatchEvent(b *testing.B) {
	f := serveLive(b)
	f.declare(manyResources)
	f.Until("all resources are there", func(v store.View) bool { return state.Updates.In(v).Len() == manyResources })
	c, base := f.client("unix")
	var events *bufio.Reader
	for range 10 {
		resp, err := c.Get(base + "/apis/hone.dev/v1alpha1/updates?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan")
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if events != nil {
			go func() { _, _ = io.Copy(io.Discard, resp.Body) }()
			continue
		}
		events = bufio.NewReaderSize(resp.Body, 1<<20)
	}
	var slowest time.Duration
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		f.Dispatch(statetest.Change(fmt.Sprintf("r%04d", i%manyResources), fmt.Sprintf("/src/%d", i)))
		if _, err := events.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		slowest = max(slowest, time.Since(start))
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
}
