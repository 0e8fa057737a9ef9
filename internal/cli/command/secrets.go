package command

import (
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/pkg/model"
)

// Secrets are the values that a command must not print. The zero value has none. Its methods may be called from any goroutine.
type Secrets struct {
	mu      sync.Mutex // guards all below
	known   []model.Secret
	scrub   logstore.Scrubber
	session func(text string) string
}

// Learn adds values. A crash does not show them, either.
func (s *Secrets) Learn(more []model.Secret) {
	crash.Hide(more)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = append(s.known, more...)
	s.scrub = logstore.NewScrubber(s.known)
}

// Follow adds the values that a session knows, now and later. scrub returns a text without them.
func (s *Secrets) Follow(scrub func(text string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = scrub
}

// Text returns a text without the values.
func (s *Secrets) Text(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		text = s.session(text)
	}
	return s.scrub.Text(text)
}
