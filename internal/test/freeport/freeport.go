// Package freeport finds ports for tests that nothing else takes while they do not listen.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports that Next chooses from: below those that systems give to outgoing connections, and below the node ports of clusters.
// One that was free a moment ago would often be taken by a connection of a test beside this one.
const first, last = 12_000, 28_000

// next is where Next goes on looking, so that it returns no port twice; other processes begin somewhere else.
var next atomic.Uint32

func init() { next.Store(rand.Uint32N(last - first)) }

// Next returns a free port of localhost, another one for each call. It is safe for concurrent use.
func Next() (int, error) {
	var err error
	for range 1000 {
		port := first + int(next.Add(1)%(last-first))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("localhost", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}
