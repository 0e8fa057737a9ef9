// Package memo remembers what evaluations have worked out, so that the next one does only what an edit has changed.
package memo

import (
	"container/list"
	"sync"
)

// memoLimit bounds what a memo holds, in bytes as Memo.Put estimates them. It takes the YAML of some thousand resources.
const memoLimit = 48 << 20

// Memo remembers the work of evaluations, so that the next one of the same session does only what an edit has changed.
//
// Everything in it is keyed by content: by the text itself for what is worked out here (YAML documents, Dockerfiles,
// ignore files, compiled Starlark), and by a hash of all inputs for what a program worked out (helm, kustomize). No
// time stamp and no size stands for a content anywhere, so a file that was replaced by one of the same age and length
// is noticed. Files are read at every evaluation.
//
// A command is remembered only where it is known what decides its output; see package command. What local() runs is not known,
// so it runs at every evaluation, in order, and never ahead of its turn.
//
// An answer is shared by all evaluations that ask for it and never changed. Errors are not remembered. When the memo is
// full, the answers that were not asked for the longest are dropped. The zero value is not usable; a nil *Memo remembers
// nothing. Any number of evaluations may use one memo at once.
type Memo struct {
	limit int

	mu      sync.Mutex // guards all below
	size    int
	answers map[Key]*list.Element
	// recent holds *answer, the one asked for last in front.
	recent list.List
	// notes are what the last evaluation of each Tiltfile left for the next one.
	notes map[string]any
}

// Kind tells questions apart that may have the same text.
type Kind int

// The kinds of questions.
const (
	Program    Kind = iota // the compiled Starlark of a file
	Document               // the objects in a YAML document
	JSON                   // a YAML document as JSON
	Dockerfile             // a parsed Dockerfile
	Ignores                // the patterns in an ignore file
	Output                 // what a command with known inputs printed
)

// Key is a question: what is made, of what.
type Key struct {
	Kind Kind
	// Name is the path where the answer depends on it.
	Name, Content string
}

type answer struct {
	key   Key
	value any
	size  int
}

// New returns an empty memo.
func New() *Memo { return newMemo(memoLimit) }

func newMemo(limit int) *Memo {
	return &Memo{limit: limit, answers: map[Key]*list.Element{}, notes: map[string]any{}}
}

// Get returns a remembered answer.
func (m *Memo) Get(key Key) (any, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.answers[key]
	if !ok {
		return nil, false
	}
	m.recent.MoveToFront(e)
	return e.Value.(*answer).value, true
}

// Put remembers an answer. Its size is estimated from what it is made of: an answer holds its source several times over.
// What would take a good part of the memo is not kept.
func (m *Memo) Put(key Key, value any, extra int) {
	size := 512 + 4*len(key.Content) + extra
	if m == nil || size > m.limit/4 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.answers[key]; ok {
		return // another goroutine was as fast
	}
	m.answers[key] = m.recent.PushFront(&answer{key, value, size})
	m.size += size
	for m.size > m.limit {
		last := m.recent.Remove(m.recent.Back()).(*answer)
		delete(m.answers, last.key)
		m.size -= last.size
	}
}

// Recall returns what make makes for a question, from the memo where it was made before. known reports the latter.
// The content of the key is kept, so it should not be a small part of a large string; cloned keys are.
func Recall[V any](m *Memo, key Key, make func() (V, error)) (value V, known bool, err error) {
	if v, ok := m.Get(key); ok {
		return v.(V), true, nil
	}
	if value, err = make(); err == nil {
		m.Put(key, value, 0)
	}
	return value, false, err
}

// Note returns what was noted about a Tiltfile; nil is nothing.
func (m *Memo) Note(path string) any {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes[path]
}

// SetNote changes what is noted about a Tiltfile. change gets what was noted so far; nil is nothing.
func (m *Memo) SetNote(path string, change func(last any) any) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[path] = change(m.notes[path])
}
