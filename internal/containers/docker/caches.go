package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/containerd/containerd/v2/core/content"
	contentlocal "github.com/containerd/containerd/v2/plugins/content/local"
	control "github.com/moby/buildkit/api/services/control"
	"github.com/moby/buildkit/client/ociindex"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// caches are the caches of one build.
type caches struct {
	log              logstore.Logger
	imports, exports []*control.CacheOptionsEntry
	// stores are the folders of this machine that the session serves, by the names that BuildKit gives them.
	stores map[string]content.Store
	// written are the caches in folders that the build writes.
	written []model.BuildCache
}

// openCaches opens the caches of a request. Those that cannot be read are left out.
func openCaches(ctx context.Context, req BuildRequest) (*caches, error) {
	c := &caches{log: req.Log, stores: map[string]content.Store{}}
	for _, from := range req.CacheFrom {
		attrs := maps.Clone(from.Attrs)
		if !c.completed(from.Type, attrs) || !c.readable(ctx, from, attrs) {
			continue
		}
		c.imports = append(c.imports, &control.CacheOptionsEntry{Type: from.Type, Attrs: attrs})
	}
	for _, to := range req.CacheTo {
		attrs := maps.Clone(to.Attrs)
		if !c.completed(to.Type, attrs) {
			continue
		}
		if err := c.writable(to); err != nil {
			return nil, err
		}
		c.exports = append(c.exports, &control.CacheOptionsEntry{Type: to.Type, Attrs: attrs})
	}
	return c, nil
}

// completed adds the attributes of a cache that the environment has, and reports whether the cache exists there.
func (c *caches) completed(kind string, attrs map[string]string) bool {
	if kind != model.CacheGHA {
		return true
	}
	for name, value := range actionsCache(attrs["version"]) {
		if attrs[name] == "" && value != "" {
			attrs[name] = value
		}
	}
	if attrs["token"] != "" && attrs["url"]+attrs["url_v2"] != "" {
		return true
	}
	logstore.Debugf(c.log, "no cache of GitHub Actions here: the environment has no ACTIONS_RUNTIME_TOKEN or no address of the cache")
	return false
}

// actionsCache returns the attributes that a runner of GitHub Actions gives to a cache, for a version of its service.
func actionsCache(version string) map[string]string {
	out := map[string]string{"token": os.Getenv("ACTIONS_RUNTIME_TOKEN"), "url": cmp.Or(os.Getenv("ACTIONS_CACHE_URL"), os.Getenv("ACTIONS_RESULTS_URL"))}
	second, _ := strconv.ParseBool(os.Getenv("ACTIONS_CACHE_SERVICE_V2")) // anything else means the first version
	if version == "2" || (version == "" && second) {
		out["url_v2"] = os.Getenv("ACTIONS_RESULTS_URL")
	}
	return out
}

// readable prepares to read a cache in a folder, and reports whether there is one. Every other cache counts as readable.
func (c *caches) readable(ctx context.Context, from model.BuildCache, attrs map[string]string) bool {
	folder := from.Folder()
	if folder == "" {
		return true
	}
	err := c.found(ctx, folder, attrs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		logstore.Infof(c.log, "There is no cache in %s yet", folder)
	case err != nil:
		logstore.Warnf(c.log, "The cache in %s is not used: %v", folder, err)
	}
	return err == nil
}

// found opens the cache in a folder, and completes its digest.
func (c *caches) found(ctx context.Context, folder string, attrs map[string]string) error {
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	if attrs["digest"] == "" {
		tag := cmp.Or(attrs["tag"], defaultTag)
		desc, err := folders.tagged(folder, tag)
		if err != nil {
			return err
		}
		if desc == nil {
			return fmt.Errorf("it has no tag %s", tag)
		}
		attrs["digest"] = desc.Digest.String()
	}
	hash, err := digest.Parse(attrs["digest"])
	if err != nil {
		return err
	}
	store, err := folders.open(folder)
	if err != nil {
		return err
	}
	if _, err := store.Info(ctx, hash); err != nil {
		return fmt.Errorf("it lacks its manifest: %w", err)
	}
	c.stores[storeName(folder)] = store
	return nil
}

// defaultTag names the newest cache in a folder.
const defaultTag = "latest"

// writable prepares to write a cache in a folder.
func (c *caches) writable(to model.BuildCache) error {
	folder := to.Folder()
	if folder == "" {
		return nil
	}
	store, err := folders.open(folder)
	if err != nil {
		return &UserError{problem.Wrap(err, "cannot write a cache to "+folder, "make the folder writable, or name another one: cache_to=[\"type=local,dest=PATH\"]")}
	}
	c.stores[storeName(folder)], c.written = store, append(c.written, to)
	return nil
}

// publish names the cache that a build has written in its folders, so that other builds find it. desc is in JSON.
func (c *caches) publish(desc string) {
	if desc == "" {
		return // the build has failed, or its cache may fail
	}
	var manifest ocispecs.Descriptor
	err := json.Unmarshal([]byte(desc), &manifest)
	for _, to := range c.written {
		if err == nil {
			err = folders.tag(to.Folder(), cmp.Or(to.Attrs["tag"], defaultTag), manifest)
		}
		if err != nil {
			logstore.Warnf(c.log, "The cache in %s is not complete: %v", to.Folder(), err)
		}
	}
}

// storeName is BuildKit's name for a folder.
func storeName(folder string) string { return "local:" + folder }

// folders are the folders of this machine that builds read and write caches in. Builds that run at the same time share them.
var folders = &cacheFolders{stores: map[string]content.Store{}}

type cacheFolders struct {
	mu     sync.Mutex
	stores map[string]content.Store // by folder; guarded by mu, like the indexes in the folders
}

// open returns the store of a folder, which it makes if it is not there.
func (f *cacheFolders) open(folder string) (content.Store, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Somebody may have removed the folder since it was opened.
	if err := os.MkdirAll(filepath.Join(folder, "ingest"), 0o755); err != nil { //nolint:gosec // other programs use the cache, too
		return nil, err
	}
	if known := f.stores[folder]; known != nil {
		return known, nil
	}
	Hush() // the library would report that the file system has no fs-verity
	store, err := contentlocal.NewStore(folder)
	if err == nil {
		f.stores[folder] = store
	}
	return store, err
}

// tagged returns the cache of a tag in a folder; nil if it has none.
func (f *cacheFolders) tagged(folder, tag string) (*ocispecs.Descriptor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := os.Stat(filepath.Join(folder, ocispecs.ImageIndexFile)); err != nil {
		return nil, err
	}
	return ociindex.NewStoreIndex(folder).Get(tag)
}

// tag gives a cache in a folder a tag.
func (f *cacheFolders) tag(folder, tag string, desc ocispecs.Descriptor) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return ociindex.NewStoreIndex(folder).Put(desc, ociindex.Tag(tag))
}
