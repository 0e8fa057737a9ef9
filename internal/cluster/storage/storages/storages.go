// Package storages opens the storage at a URL.
package storages

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
	"github.com/hone-dev/hone/internal/cluster/storage/kube"
	"github.com/hone-dev/hone/internal/cluster/storage/s3"
	"github.com/hone-dev/hone/internal/cluster/storage/sql"
	"github.com/hone-dev/hone/internal/cluster/storage/web"
)

// Options are what some storages need.
type Options struct {
	// Cluster returns the cluster for kube://. Namespace is its namespace, where the URL names none.
	Cluster   func() (kube.Cluster, error)
	Namespace string
}

// kinds are the storages by the scheme of their URL.
var kinds = map[string]func(address string, o Options) (storage.Storage, error){
	"file": func(address string, _ Options) (storage.Storage, error) {
		path := strings.TrimPrefix(address, "file://")
		if !filepath.IsAbs(filepath.FromSlash(path)) {
			return nil, problem.New(address+" names no folder", "write file:///path/to/folder")
		}
		return folder.New(filepath.FromSlash(path)), nil
	},
	"kube": func(address string, o Options) (storage.Storage, error) {
		c, err := o.Cluster()
		if err != nil {
			return nil, err
		}
		return kube.Open(address, c, o.Namespace)
	},
	"http":       func(address string, _ Options) (storage.Storage, error) { return web.New(address) },
	"https":      func(address string, _ Options) (storage.Storage, error) { return web.New(address) },
	"s3":         func(address string, _ Options) (storage.Storage, error) { return s3.New(address) },
	"postgres":   func(address string, _ Options) (storage.Storage, error) { return sql.Open(address) },
	"postgresql": func(address string, _ Options) (storage.Storage, error) { return sql.Open(address) },
	"sqlite":     func(address string, _ Options) (storage.Storage, error) { return sql.Open(address) },
}

// Open returns the storage at a URL. It sends no request.
func Open(address string, o Options) (storage.Storage, error) {
	if err := Check(address); err != nil {
		return nil, err
	}
	scheme, _, _ := strings.Cut(address, "://")
	return kinds[scheme](address, o)
}

// Check returns a problem for a URL that is not the URL of a storage, or that has a password.
func Check(address string) error {
	scheme, _, ok := strings.Cut(address, "://")
	if kinds[scheme] == nil || !ok {
		return problem.New(fmt.Sprintf("%q is not the URL of a storage", hidden(address)),
			"use file:///FOLDER, kube://NAMESPACE, https://HOST/PATH, s3://BUCKET/PREFIX, postgres://HOST/DATABASE or sqlite:///FILE").See("state")
	}
	u, err := url.Parse(address)
	if err != nil {
		return problem.New(fmt.Sprintf("the URL of the ledger cannot be read: %q", hidden(address)), "see the forms of URLs").See("state")
	}
	if _, has := u.User.Password(); has {
		return problem.New("the URL of the ledger has a password, which would be shown: "+u.Redacted(),
			"leave it out: each storage takes its credentials from its usual places").See("state")
	}
	return nil
}

// hidden returns an address without the part that may be a credential.
func hidden(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if _, host, has := strings.Cut(rest, "@"); ok && has {
		return scheme + "://" + host
	}
	return address
}
