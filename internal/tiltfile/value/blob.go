package value

import (
	"hash/fnv"

	"go.starlark.net/starlark"
)

// Blob is a text that is content instead of the name of a file.
type Blob struct {
	text string
	// source is the origin of the text, for messages.
	source string
}

var _ starlark.Value = (*Blob)(nil)

// NewBlob makes a blob from a text. source is the origin of the text, for messages.
func NewBlob(text, source string) *Blob { return &Blob{text, source} }

// String returns the text, so that str(blob) does the same.
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
