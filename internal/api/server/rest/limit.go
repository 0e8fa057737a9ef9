package rest

import (
	"runtime"

	"golang.org/x/sync/semaphore"
)

// NewLimit returns the bound on requests that work at the same time: half of the processors, at least one, so that the
// session's loop never has to queue for a processor behind clients, however many there are. A request holds one of it while
// it makes what it sends, and releases it while it waits for the network or for news.
func NewLimit() *semaphore.Weighted {
	return semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))
}
