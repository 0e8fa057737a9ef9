package value

import (
	"hash/fnv"

	"go.starlark.net/starlark"
)

// Blob is text that is content, not the name of a file.
type Blob struct {
	text string
	// source says where the text comes from, for messages.
	source string
}

var _ starlark.Value = (*Blob)(nil)

// NewBlob makes a blob of a text. source says where it comes from, for messages.
func NewBlob(text, source string) *Blob { return &Blob{text, source} }

// String returns the text, so that str(blob) does.
func (b *Blob) String() string { return b.text }

// Type implements starlark.Value.
func (b *Blob) Type() string { return "blob" }

// Freeze implements starlark.Value; a blob never changes.
func (b *Blob) Freeze() {}

// Truth reports whether there is any text.
func (b *Blob) Truth() starlark.Bool { return b.text != "" }

// Hash implements starlark.Value.
func (b *Blob) Hash() (uint32, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.text))
	return h.Sum32(), nil
}
