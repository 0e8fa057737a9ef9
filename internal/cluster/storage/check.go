package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Unfit is the problem of a storage that cannot keep documents safely, with the reason.
func Unfit(s Storage, reason string) error {
	return problem.New(fmt.Sprintf("the storage %s cannot keep the ledger: %s, so that two writers could lose each other's changes", s.String(), reason),
		"use a storage that compares and sets: a folder, the cluster (kube://), PostgreSQL or SQLite, an object store that honours "+
			"If-None-Match: *, or an HTTP server that sends strong ETags and honours If-Match and If-None-Match")
}

// Check tries on a document of its own whether a storage really compares and sets. Some servers accept the headers for it and ignore
// them. Check deletes the document again.
func Check(ctx context.Context, s Storage) (err error) {
	p := probe{s: s, name: "check-" + rand.Text(), ctx: ctx}
	defer func() {
		if cleanup := p.remove(); err == nil {
			err = cleanup
		}
	}()
	for _, step := range []func() error{p.create, p.createAgain, p.replace, p.replaceStale, p.readBack} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// probe is a document that Check tries writes on.
type probe struct {
	s             Storage
	name          string
	ctx           context.Context
	first, second Version
}

// The contents have the same length: some servers make versions of size and time.
var contents = [3][]byte{[]byte("hone 1"), []byte("hone 2"), []byte("hone 3")}

// save writes the document. If only the answer is lost, that is no error.
func (p *probe) save(data []byte, was Version) (Version, error) {
	is, err := p.s.Save(p.ctx, p.name, data, was)
	if err == nil || errors.Is(err, ErrStale) {
		return is, err
	}
	if doc, unread := p.s.Load(p.ctx, p.name); unread == nil && bytes.Equal(doc.Data, data) {
		return doc.Version, nil
	}
	return None, err
}

func (p *probe) create() (err error) {
	p.first, err = p.save(contents[0], None)
	return p.failed("create", err)
}

func (p *probe) createAgain() error {
	_, err := p.s.Save(p.ctx, p.name, contents[2], None)
	return p.mustBeStale(err, "it creates a document that exists already (it ignores If-None-Match, as WebDAV of nginx does)")
}

func (p *probe) replace() (err error) {
	p.second, err = p.save(contents[1], p.first)
	if errors.Is(err, ErrStale) {
		return Unfit(p.s, "it refuses to replace the version that it has just written")
	}
	if err == nil && p.second == p.first {
		return Unfit(p.s, "two contents have the same version "+string(p.first))
	}
	return p.failed("replace", err)
}

func (p *probe) replaceStale() error {
	if _, err := p.s.Save(p.ctx, p.name, contents[2], p.first); !errors.Is(err, ErrStale) {
		return p.mustBeStale(err, "it replaces a document that another writer has changed (it ignores If-Match)")
	}
	return p.mustBeStale(p.s.Delete(p.ctx, p.name, p.first), "it deletes a document that another writer has changed (it ignores If-Match)")
}

func (p *probe) readBack() error {
	doc, err := p.s.Load(p.ctx, p.name)
	if err == nil && (doc.Version != p.second || !bytes.Equal(doc.Data, contents[1])) {
		return Unfit(p.s, "it does not return the document that was written last")
	}
	return p.failed("read", err)
}

// remove deletes whichever version of the document is there.
func (p *probe) remove() error {
	ctx := context.WithoutCancel(p.ctx)
	doc, err := p.s.Load(ctx, p.name)
	if errors.Is(err, ErrMissing) {
		return nil
	}
	if err == nil {
		err = p.s.Delete(ctx, p.name, doc.Version)
	}
	return p.failed("delete", err)
}

// mustBeStale returns the problem of a storage that carried out a stale write.
func (p *probe) mustBeStale(err error, reason string) error {
	switch {
	case err == nil:
		return Unfit(p.s, reason)
	case errors.Is(err, ErrStale):
		return nil
	}
	return p.failed("check", err)
}

// failed wraps an error that says nothing about the storage's abilities.
func (p *probe) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s a document in the storage %s: %w", what, p.s.String(), err)
}
