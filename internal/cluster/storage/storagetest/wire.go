package storagetest

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Wire is the way to an HTTP server, on which requests and answers get lost. It disturbs by a plan that a seed makes.
type Wire struct {
	server http.Handler

	mu   sync.Mutex
	rand *rand.Rand // guarded by mu
}

// NewWire returns a wire to a server.
func NewWire(server http.Handler, seed uint64) *Wire {
	return &Wire{server: server, rand: rand.New(rand.NewPCG(seed, 0))}
}

// disturbances are as likely as they are listed.
var disturbances = []func(w http.ResponseWriter, r *http.Request, server http.Handler){
	pass, pass, pass, pass, pass, pass, busy, cutRequest, loseAnswer, cutAnswer,
}

// ServeHTTP implements http.Handler.
func (l *Wire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	disturb := disturbances[l.rand.IntN(len(disturbances))]
	l.mu.Unlock()
	disturb(w, r, l.server)
}

func pass(w http.ResponseWriter, r *http.Request, server http.Handler) { server.ServeHTTP(w, r) }

func busy(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusServiceUnavailable)
}

// cutRequest ends the connection in the middle of the request's body.
func cutRequest(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	panic(http.ErrAbortHandler)
}

// loseAnswer lets the server carry out the request, and ends the connection.
func loseAnswer(_ http.ResponseWriter, r *http.Request, server http.Handler) {
	server.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutAnswer ends the connection in the middle of the answer's body.
func cutAnswer(w http.ResponseWriter, r *http.Request, server http.Handler) {
	whole := httptest.NewRecorder()
	server.ServeHTTP(whole, r)
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()+1))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	panic(http.ErrAbortHandler)
}
