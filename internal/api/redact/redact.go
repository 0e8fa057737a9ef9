// Package redact removes secrets, and passwords in URLs, from the JSON that the session's API sends, and restores them when a client sends
// redacted text back.
package redact

import (
	"bytes"
	"encoding/json"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Redactor knows the secrets of a session at one moment. The zero value knows none; nil changes nothing. A text that equals a name of the
// project stays: references must stay valid.
type Redactor struct{ scrub logstore.Scrubber }

// New returns a redactor for the given secrets.
func New(secrets []model.Secret) *Redactor { return With(logstore.NewScrubber(secrets)) }

// With returns a redactor for the secrets that a scrubber knows.
func With(scrub logstore.Scrubber) *Redactor { return &Redactor{scrub} }

// Of returns a redactor for the session in the state v. The secrets are those that the last successful evaluation of the
// Tiltfile found.
func Of(v store.View) *Redactor { return New(state.TheTiltfile(v).Result.Secrets) }

// identity are the fields of an object's metadata that identify it.
var identity = map[string]bool{"name": true, "namespace": true, "uid": true, "resourceVersion": true}

// addresses are the fields with addresses that must lead somewhere: a browser opens them.
var addresses = map[string]bool{"endpoints": true, "endpointLinks": true}

// Text returns a text without secrets.
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	return r.scrub.Text(text)
}

// address returns an address that must lead somewhere without secrets.
func (r *Redactor) address(text string) string {
	if r == nil {
		return text
	}
	return r.scrub.Address(text)
}

// JSON returns the document with all secrets in its texts replaced; field names stay. It returns the same slice if there is
// nothing to replace.
func (r *Redactor) JSON(doc []byte) []byte {
	if r == nil || !r.finds(doc) {
		return doc
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return []byte("null") // nothing is better than a secret; hone's own documents are well-formed
	}
	out, err := json.Marshal(r.Tree(tree))
	if err != nil {
		return []byte("null")
	}
	return out
}

// Tree is like JSON for a decoded document, which it changes in place.
func (r *Redactor) Tree(tree any) any { return r.walk(tree, r.Text, false) }

func (r *Redactor) walk(tree any, redact func(string) string, metadata bool) any {
	switch t := tree.(type) {
	case string:
		return redact(t)
	case []any:
		for i := range t {
			t[i] = r.walk(t[i], redact, false)
		}
	case map[string]any:
		for k, v := range t {
			if _, text := v.(string); text && metadata && identity[k] {
				continue
			}
			inside := redact
			if addresses[k] {
				inside = r.address
			}
			t[k] = r.walk(v, inside, k == "metadata")
		}
	}
	return tree
}

// finds reports whether any text of a document contains a secret. It compares unescaped texts, but decodes only texts that
// contain JSON escapes.
func (r *Redactor) finds(doc []byte) bool {
	if r.scrub.Empty() {
		return r.Text(string(doc)) != string(doc)
	}
	for i := 0; i < len(doc); i++ {
		if doc[i] != '"' {
			continue
		}
		end, escaped := i+1, false
		for end < len(doc) && doc[end] != '"' {
			if doc[end] == '\\' {
				escaped = true
				end++
			}
			end++
		}
		if end >= len(doc) {
			return true
		}
		text := string(doc[i+1 : end])
		if escaped && json.Unmarshal(doc[i:end+1], &text) != nil {
			return true
		}
		if r.scrub.Text(text) != text {
			return true
		}
		i = end
	}
	return false
}

// Restore returns the document sent by a client, in which redacted texts are replaced by the texts at the same places of the
// object's previous state, was. Both are decoded documents. restored reports whether there were any.
func (r *Redactor) Restore(sent, was any) (plain any, restored bool) {
	switch s := sent.(type) {
	case string:
		if w, ok := was.(string); ok && s == r.Text(w) {
			return w, s != w
		}
	case []any:
		w, _ := was.([]any)
		for i := range min(len(s), len(w)) {
			s[i], restored = r.restore(s[i], w[i], restored)
		}
	case map[string]any:
		w, _ := was.(map[string]any)
		for k, v := range s {
			if old, ok := w[k]; ok {
				s[k], restored = r.restore(v, old, restored)
			}
		}
	}
	return sent, restored
}

// restore is Restore for a part of a document.
func (r *Redactor) restore(sent, was any, before bool) (plain any, restored bool) {
	plain, restored = r.Restore(sent, was)
	return plain, restored || before
}
