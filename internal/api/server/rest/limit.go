package rest

import (
	"runtime"

	"golang.org/x/sync/semaphore"
)

// NewLimit returns the limit of requests that work at the same time: half of the processors, at least one, so that the
// session's loop never has to wait for a processor because of clients. A request holds one unit while it creates its
// response, and releases it while it waits for the network or for changes.
func NewLimit() *semaphore.Weighted {
	return semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))
}
