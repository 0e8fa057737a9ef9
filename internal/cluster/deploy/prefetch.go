package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/pkg/model"
)

// prefetchTTL is the time for which the objects that Prefetch has read are valid.
const prefetchTTL = 10 * time.Second

// liveCache holds live objects, and that others are absent, until each is taken once.
type liveCache struct {
	mu      sync.Mutex
	entries map[cacheKey]cached // guarded by mu
}

type cacheKey struct {
	id      model.ObjectID
	version string
}

type cached struct {
	live *unstructured.Unstructured // nil if there is none
	read time.Time
}

func newLiveCache() *liveCache { return &liveCache{entries: map[cacheKey]cached{}} }

func keyFor(u *unstructured.Unstructured) cacheKey {
	return cacheKey{IDOf(u), u.GroupVersionKind().Version}
}

func (c *liveCache) put(list []*unstructured.Unstructured, read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range list {
		c.entries[keyFor(u)] = cached{u, read}
	}
}

// absent notes that objects do not exist.
func (c *liveCache) absent(list []cacheKey, read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range list {
		c.entries[key] = cached{nil, read}
	}
}

// take removes and returns the live object for a desired one, nil if there is none. ok is false if the object has to be read from the
// cluster.
func (c *liveCache) take(desired *unstructured.Unstructured) (live *unstructured.Unstructured, ok bool) {
	key := keyFor(desired)
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	delete(c.entries, key)
	if !ok || time.Since(e.read) > prefetchTTL {
		return nil, false
	}
	return e.live, true
}

// forget drops the cached state of an object that is about to change.
func (c *liveCache) forget(id model.ObjectID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.entries, func(k cacheKey, _ cached) bool { return k.id == id })
}

// namesLimit is the number of objects of a kind in a namespace up to which their names are read to see which of the desired ones are
// missing.
const namesLimit = 500

// Prefetch reads the live state of the given desired objects, with one list per kind, so that the next Apply of each
// need not read it; where several are missing, with a list of all names. The result serves one Apply per object, within 10 s. It is an
// optimisation: after an error the objects concerned are read one by one.
func (a *Applier) Prefetch(ctx context.Context, objects []*unstructured.Unstructured) error {
	return a.prefetch(ctx, a.cache, objects)
}

// prefetch is Prefetch into any cache.
func (a *Applier) prefetch(ctx context.Context, into *liveCache, objects []*unstructured.Unstructured) error {
	groups := map[schema.GroupVersionKind][]*unstructured.Unstructured{}
	for _, u := range objects {
		if label(u, LabelProject) != "" {
			groups[u.GroupVersionKind()] = append(groups[u.GroupVersionKind()], u)
		}
	}
	var nodes []dag.Node
	kinds := slices.SortedFunc(maps.Keys(groups), func(x, y schema.GroupVersionKind) int {
		return strings.Compare(x.String(), y.String())
	})
	for _, gvk := range kinds {
		if group := groups[gvk]; len(group) > 1 {
			nodes = append(nodes, dag.Node{Name: gvk.Kind, Run: func(ctx context.Context) error {
				return a.prefetchKind(ctx, into, group)
			}})
		}
	}
	var errs []error
	for i, err := range dag.Walk(ctx, nodes, a.parallelism) {
		if err != nil {
			errs = append(errs, fmt.Errorf("read %s: %w", nodes[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// prefetchKind lists the objects of one kind, in their namespace if there is only one, else in all namespaces. If
// listing the whole cluster is forbidden, it lists one namespace after the other.
func (a *Applier) prefetchKind(ctx context.Context, into *liveCache, group []*unstructured.Unstructured) error {
	m, err := a.mapping(ctx, group[0])
	if err != nil {
		return err
	}
	selectors, namespaces := map[string]bool{}, map[string]bool{}
	wanted := make(map[cacheKey]bool, len(group))
	for _, u := range group {
		selectors[LabelProject+"="+label(u, LabelProject)] = true
		namespaces[u.GetNamespace()] = true
		wanted[keyFor(u)] = true
	}
	res := a.dyn.Resource(m.Resource)
	var errs []error
	places := slices.Sorted(maps.Keys(namespaces))
	for selector := range selectors {
		if len(places) > 1 {
			if err := into.list(ctx, res, selector, wanted); !apierrors.IsForbidden(err) {
				errs = append(errs, err)
				continue
			}
		}
		for _, ns := range places {
			errs = append(errs, into.list(ctx, res.Namespace(ns), selector, wanted))
		}
	}
	if err := errors.Join(errs...); err != nil || a.names == nil {
		return err
	}
	for _, ns := range places {
		errs = append(errs, into.listNames(ctx, a.names.Resource(m.Resource).Namespace(ns), ns, wanted))
	}
	return errors.Join(errs...)
}

// listNames notes which of the wanted objects in a namespace do not exist. Those that are left in wanted have not been found among the
// project's objects.
func (c *liveCache) listNames(ctx context.Context, all metadata.ResourceInterface, namespace string, wanted map[cacheKey]bool) error {
	var missing []cacheKey
	for key := range wanted {
		if key.id.Namespace == namespace {
			missing = append(missing, key)
		}
	}
	if len(missing) < 2 {
		return nil
	}
	read := time.Now()
	list, err := all.List(ctx, metav1.ListOptions{Limit: namesLimit})
	if err != nil || list.GetContinue() != "" {
		return err
	}
	there := map[string]bool{}
	for _, o := range list.Items {
		there[o.Name] = true
	}
	c.absent(slices.DeleteFunc(missing, func(key cacheKey) bool { return there[key.id.Name] }), read)
	return nil
}

// list reads the wanted objects in one list, and removes them from wanted.
func (c *liveCache) list(ctx context.Context, ri dynamic.ResourceInterface, selector string, wanted map[cacheKey]bool) error {
	opts := metav1.ListOptions{LabelSelector: selector, Limit: 1000}
	for {
		read := time.Now()
		list, err := ri.List(ctx, opts)
		if err != nil {
			return err
		}
		var found []*unstructured.Unstructured
		for i := range list.Items {
			if u := &list.Items[i]; wanted[keyFor(u)] {
				found = append(found, u)
				delete(wanted, keyFor(u))
			}
		}
		c.put(found, read)
		if opts.Continue = list.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
}
