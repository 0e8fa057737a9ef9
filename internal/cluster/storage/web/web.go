// Package web is a storage on an HTTP server: each document has a URL below one base, and its version is its ETag.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/request"
)

// Storage keeps documents on an HTTP server.
type Storage struct {
	base   string // without a slash at the end
	auth   func(*http.Request) error
	client *request.Client
}

// New returns the storage at a URL. It sends nothing yet.
func New(base string) (*Storage, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, problem.Wrap(err, "the URL of the storage is invalid", "use https://HOST/PATH")
	}
	if u.User != nil {
		return nil, problem.New("the URL of the storage at "+u.Host+" has credentials",
			"put them into ~/.netrc, or a token into the environment variable "+tokenVariable+": a URL appears in logs and in the Tiltfile")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, problem.New("the URL of the storage is invalid: "+u.Redacted(), "use https://HOST/PATH")
	}
	if u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, problem.New("the URL of the storage is invalid: "+u.Redacted(), "use https://HOST/PATH, without ? and #")
	}
	s := &Storage{base: strings.TrimSuffix(u.String(), "/"), client: request.New()}
	s.auth = credentials(u.Hostname())
	return s, nil
}

// Load implements storage.Storage.
func (s *Storage) Load(ctx context.Context, name string) (storage.Document, error) {
	if err := checkName(name); err != nil {
		return storage.Document{}, err
	}
	return s.load(ctx, name)
}

// Save implements storage.Storage.
func (s *Storage) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	if err := checkName(name); err != nil {
		return storage.None, err
	}
	if was != storage.None {
		return s.save(ctx, name, data, was)
	}
	if err := s.listed(ctx, name); err != nil {
		return storage.None, err
	}
	is, err := s.save(ctx, name, data, was)
	if err != nil {
		return storage.None, err
	}
	// Another writer, who deleted an earlier document of this name, may have removed the name after it was added.
	if err := s.listed(ctx, name); err != nil {
		return storage.None, err
	}
	return is, nil
}

// Delete implements storage.Storage.
func (s *Storage) Delete(ctx context.Context, name string, was storage.Version) error {
	if err := checkName(name); err != nil {
		return err
	}
	answer, err := s.send(ctx, http.MethodDelete, name, http.Header{"If-Match": {string(was)}}, nil)
	if err != nil {
		return err
	}
	switch answer.Status {
	case http.StatusPreconditionFailed:
		return s.staleOrMissing(ctx, name, answer.Repeated)
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusNotFound, http.StatusGone:
		return s.unlisted(ctx, name)
	}
	return s.refused(http.MethodDelete, name, answer)
}

// staleOrMissing tells why a server refuses to delete a version: RFC 9110 has the same answer if there is no document.
func (s *Storage) staleOrMissing(ctx context.Context, name string, repeated bool) error {
	_, err := s.load(ctx, name)
	switch {
	case errors.Is(err, storage.ErrMissing):
		return s.unlisted(ctx, name)
	case err != nil:
		return err
	case repeated:
		return s.unknown(http.MethodDelete, name)
	}
	return storage.ErrStale
}

// String implements storage.Storage.
func (s *Storage) String() string { return s.base }

// Close implements storage.Storage.
func (s *Storage) Close() error {
	s.client.Close()
	return nil
}

func (s *Storage) load(ctx context.Context, name string) (storage.Document, error) {
	answer, err := s.send(ctx, http.MethodGet, name, nil, nil)
	if err != nil {
		return storage.Document{}, err
	}
	switch answer.Status {
	case http.StatusNotFound, http.StatusGone:
		return storage.Document{}, storage.ErrMissing
	case http.StatusOK:
	default:
		return storage.Document{}, s.refused(http.MethodGet, name, answer)
	}
	version, err := s.version(answer)
	return storage.Document{Data: answer.Body, Version: version}, err
}

func (s *Storage) save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	header := http.Header{"Content-Type": {"application/octet-stream"}}
	if was == storage.None {
		header.Set("If-None-Match", "*")
	} else {
		header.Set("If-Match", string(was))
	}
	answer, err := s.send(ctx, http.MethodPut, name, header, data)
	if err != nil {
		return storage.None, err
	}
	switch answer.Status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return s.written(ctx, name, data, answer)
	case http.StatusPreconditionFailed:
		if answer.Repeated {
			return storage.None, s.unknown(http.MethodPut, name)
		}
		return storage.None, storage.ErrStale
	}
	return storage.None, s.refused(http.MethodPut, name, answer)
}

// written returns the version of data that was written. A server need not name it in its answer.
func (s *Storage) written(ctx context.Context, name string, data []byte, answer request.Answer) (storage.Version, error) {
	if answer.Header.Get("ETag") != "" {
		return s.version(answer)
	}
	doc, err := s.load(ctx, name)
	if err != nil {
		return storage.None, err
	}
	if !bytes.Equal(doc.Data, data) {
		return storage.None, s.unknown(http.MethodPut, name)
	}
	return doc.Version, nil
}

// version returns the ETag of an answer. A weak one stands for several contents, and a server must not compare it for a write.
func (s *Storage) version(answer request.Answer) (storage.Version, error) {
	tag := answer.Header.Get("ETag")
	reason := ""
	switch {
	case tag == "":
		reason = "it sends no ETag"
	case strings.HasPrefix(tag, "W/"):
		reason = "it sends the weak ETag " + tag
	case tag == `""`:
		reason = "it sends an empty ETag"
	}
	if reason != "" {
		return storage.None, storage.Unfit(s, reason)
	}
	return storage.Version(tag), nil
}

func (s *Storage) send(ctx context.Context, method, name string, header http.Header, body []byte) (request.Answer, error) {
	return s.client.Do(ctx, request.Request{Method: method, URL: s.base + "/" + name, Header: header, Body: body, Prepare: s.auth})
}

// unknown is the error of a write whose first answer was lost.
func (s *Storage) unknown(method, name string) error {
	return fmt.Errorf("%s %s/%s: the document has changed, maybe by this request, whose answer was lost", method, s.base, name)
}

// refused returns the error of an answer.
func (s *Storage) refused(method, name string, answer request.Answer) error {
	err := fmt.Errorf("%s %s/%s: the server answers %d %s", method, s.base, name, answer.Status, http.StatusText(answer.Status))
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.Wrap(err, "the storage "+s.base+" refuses access",
			"set the environment variable "+tokenVariable+" to a token, or add the user and the password to ~/.netrc")
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return storage.Unfit(s, fmt.Sprintf("it does not support %s", method))
	}
	return err
}

// checkName keeps the name of the index free, too.
func checkName(name string) error {
	if name == index {
		return fmt.Errorf("invalid name of a document: %q is the index", name)
	}
	return storage.CheckName(name)
}
