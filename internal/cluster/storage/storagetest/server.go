package storagetest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Server is an HTTP server of documents with strong ETags, which honours If-Match and If-None-Match.
type Server struct {
	mu   sync.Mutex
	docs map[string][]byte // by path; guarded by mu
	// Silent leaves ETags out of answers to writes, which RFC 9110 allows.
	Silent bool
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone before it has sent everything
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, exists := s.docs[r.URL.Path]
	if !allowed(r.Header, tag(data), exists) {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	switch r.Method {
	case http.MethodGet:
		if !exists {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", tag(data))
		_, _ = w.Write(data)
	case http.MethodPut:
		if s.docs == nil {
			s.docs = map[string][]byte{}
		}
		s.docs[r.URL.Path] = body
		if !s.Silent {
			w.Header().Set("ETag", tag(body))
		}
		w.WriteHeader(http.StatusCreated)
	case http.MethodDelete:
		delete(s.docs, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// allowed evaluates the conditions of a request.
func allowed(h http.Header, tag string, exists bool) bool {
	if want := h.Get("If-Match"); want != "" && (!exists || want != tag) {
		return false
	}
	return h.Get("If-None-Match") != "*" || !exists
}

func tag(data []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(data)) }
