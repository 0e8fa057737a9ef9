// Package freeport finds free ports for tests, which no other program takes while the tests do not listen on them.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports that Next chooses from: below those that systems give to outgoing connections, and below the node ports of clusters.
// Otherwise a connection of a test that runs at the same time would often take a port that was free a moment ago.
const first, last = 12_000, 28_000

// next is the place at which Next continues to search, so that it returns no port twice; other processes begin at another place.
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
