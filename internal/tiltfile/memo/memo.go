// Package memo remembers the results of evaluations, so that the next one repeats only the work that an edit affects.
package memo

import (
	"container/list"
	"sync"
)

// memoLimit is the most that a memo holds, in bytes as Memo.Put estimates them. That is enough for the YAML of a few
// thousand resources.
const memoLimit = 48 << 20

// Memo remembers the results of evaluations, so that the next one in the session repeats only the work that an edit affects.
//
// Everything in it is keyed by content: the text itself for results that hone computes (from YAML documents, Dockerfiles,
// ignore files, Starlark), and a hash of all inputs for the output of a program (helm, kustomize). Neither time stamp nor
// size ever stands for content, so replacing a file with one of the same age and length is noticed. Files are read at every
// evaluation.
//
// The output of a command is remembered only where its inputs are known; see package command. The inputs of local() are
// not, so its command runs in every evaluation, in order, and never ahead of its turn.
//
// An answer is shared by all evaluations that request it, and never changes. Errors are not remembered. When the memo
// is full, the least recently used answers are dropped. The zero value is not usable; a nil *Memo remembers nothing.
// Any number of evaluations may use one memo at once.
type Memo struct {
	limit int

	mu      sync.Mutex // guards all below
	size    int
	answers map[Key]*list.Element
	// recent holds *answer, the most recently used first.
	recent list.List
	// notes are values that the last evaluation of each Tiltfile left for the next one, by path.
	notes map[string]any
}

// Kind distinguishes questions that may have the same text.
type Kind int

// The kinds of questions.
const (
	Program    Kind = iota // the compiled Starlark of a file
	Document               // the objects in a YAML document
	JSON                   // a YAML document as JSON
	Dockerfile             // a parsed Dockerfile
	Ignores                // the patterns in an ignore file
	Output                 // the output of a command with known inputs
)

// Key is a question: the kind of answer, and the content that it is made from.
type Key struct {
	Kind Kind
	// Name is the path, where the answer depends on it.
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

// Put remembers an answer. Its size is estimated from its key plus extra bytes: an answer holds its source several
// times over. An answer of more than a quarter of the memo is not kept.
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

// Recall returns the answer to a question: from the memo if it is known, else from make, and then remembers it. known
// reports whether it came from the memo. The memo keeps the key's content, so clone content that is a small part of a
// large string.
func Recall[V any](m *Memo, key Key, make func() (V, error)) (value V, known bool, err error) {
	if v, ok := m.Get(key); ok {
		return v.(V), true, nil
	}
	if value, err = make(); err == nil {
		m.Put(key, value, 0)
	}
	return value, false, err
}

// Note returns the note about a Tiltfile, or nil.
func (m *Memo) Note(path string) any {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes[path]
}

// SetNote changes the note about a Tiltfile. change receives the present note, or nil.
func (m *Memo) SetNote(path string, change func(last any) any) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[path] = change(m.notes[path])
}
