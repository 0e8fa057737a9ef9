package tiltfile

import (
	"hash/fnv"

	"go.starlark.net/starlark"
)

// blob is text that is content, not the name of a file.
type blob struct {
	text string
	// source says where the text comes from, for messages.
	source string
}

var _ starlark.Value = (*blob)(nil)

// newBlob makes a blob of a text. source says where it comes from, for messages.
func newBlob(text, source string) *blob { return &blob{text, source} }

// String returns the text, so that str(blob) does.
func (b *blob) String() string { return b.text }

// Type implements starlark.Value.
func (b *blob) Type() string { return "blob" }

// Freeze implements starlark.Value; a blob never changes.
func (b *blob) Freeze() {}

// Truth reports whether there is any text.
func (b *blob) Truth() starlark.Bool { return b.text != "" }

// Hash implements starlark.Value.
func (b *blob) Hash() (uint32, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.text))
	return h.Sum32(), nil
}
