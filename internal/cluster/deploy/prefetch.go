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

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/pkg/model"
)

// prefetchTTL is the time for which the objects that Prefetch has read are valid.
const prefetchTTL = 10 * time.Second

// liveCache holds live objects until each is taken once.
type liveCache struct {
	mu      sync.Mutex
	entries map[cacheKey]cached // guarded by mu
}

type cacheKey struct {
	id      model.ObjectID
	version string
}

type cached struct {
	live *unstructured.Unstructured
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

// take removes and returns the live object for a desired one. ok is false if the object has to be read from the
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

// Prefetch reads the live state of the given desired objects, with one list per kind, so that the next Apply of each
// need not read it. The result serves one Apply per object, within 10 s. It is an optimisation: after an error the
// objects concerned are read one by one.
func (a *Applier) Prefetch(ctx context.Context, objects []*unstructured.Unstructured) error {
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
				return a.prefetchKind(ctx, group)
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
func (a *Applier) prefetchKind(ctx context.Context, group []*unstructured.Unstructured) error {
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
	for selector := range selectors {
		places := slices.Sorted(maps.Keys(namespaces))
		if len(places) > 1 {
			if err := a.prefetchList(ctx, res, selector, wanted); !apierrors.IsForbidden(err) {
				errs = append(errs, err)
				continue
			}
		}
		for _, ns := range places {
			errs = append(errs, a.prefetchList(ctx, res.Namespace(ns), selector, wanted))
		}
	}
	return errors.Join(errs...)
}

func (a *Applier) prefetchList(ctx context.Context, ri dynamic.ResourceInterface, selector string, wanted map[cacheKey]bool) error {
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
			}
		}
		a.cache.put(found, read)
		if opts.Continue = list.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
}
