// Package access controls access to the session's API. Its listeners limit the number of connections and accept TLS and plain
// HTTP on one port. It checks the token, the Host and the Origin of each request before any other code sees the request, and it
// delays clients that send many refused requests.
package access

import (
	"net"
	"net/http"
	"time"
)

const (
	// headerTimeout bounds the time until a request's headers are there, from the first byte of the connection on.
	headerTimeout = 5 * time.Second
	// idleTimeout is the time that a connection may wait for its next request.
	idleTimeout = 2 * time.Minute
	// bodyTimeout bounds the time that a request's body takes to come.
	bodyTimeout = 10 * time.Second
	// WriteTimeout bounds how long a client may take to read an answer, or one piece of a streamed answer.
	WriteTimeout = 10 * time.Second
	// maxHeader bounds headers. All programs on this machine share one host name and with it a browser's cookies, which
	// may be long.
	maxHeader = 64 << 10
	// maxPath bounds the path and query of a request.
	maxPath = 8 << 10
	// MaxConnections bounds the connections that one listener has at a time.
	MaxConnections = 256
)

// Server returns an HTTP server with every limit set. The handler must already be behind Guard.
func Server(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, ConnContext: remember}
}

// Extend gives the answer to a request another WriteTimeout, for answers that are streamed.
func Extend(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(WriteTimeout))
}

// Endless removes the deadlines of a request whose response has no end of its own. The code that writes the response must
// call Extend.
func Endless(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

var _ net.Listener = (*listener)(nil)
