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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/cluster/k8s"
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
	live foundLive
	read time.Time
}

// foundLive is an object that was found in the cluster: encoded, because most wait for long, or decoded. Neither is set if there is none.
type foundLive struct {
	encoded k8s.Encoded
	kind    schema.GroupVersionKind // of an encoded one
	decoded *unstructured.Unstructured
}

// object returns the object, nil if there is none.
func (f foundLive) object() (*unstructured.Unstructured, error) {
	if f.encoded == nil {
		return f.decoded, nil
	}
	return f.encoded.Decode(f.kind)
}

func newLiveCache() *liveCache { return &liveCache{entries: map[cacheKey]cached{}} }

func keyFor(u *unstructured.Unstructured) cacheKey {
	return cacheKey{IDOf(u), u.GroupVersionKind().Version}
}

func (c *liveCache) put(list map[cacheKey]foundLive, read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, f := range list {
		c.entries[key] = cached{f, read}
	}
}

// absent notes that objects do not exist.
func (c *liveCache) absent(list []cacheKey, read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range list {
		c.entries[key] = cached{read: read}
	}
}

// take removes and returns the live object for a desired one, nil if there is none. ok is false if the object has to be read from the
// cluster.
func (c *liveCache) take(desired *unstructured.Unstructured) (live *unstructured.Unstructured, ok bool) {
	e, ok := c.remove(keyFor(desired))
	if !ok || time.Since(e.read) > prefetchTTL {
		return nil, false
	}
	live, err := e.live.object()
	return live, err == nil
}

// remove removes and returns an entry.
func (c *liveCache) remove(key cacheKey) (e cached, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok = c.entries[key]
	delete(c.entries, key)
	return e, ok
}

// forget drops the cached state of an object that is about to change.
func (c *liveCache) forget(id model.ObjectID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.entries, func(k cacheKey, _ cached) bool { return k.id == id })
}

const (
	// namesLimit is the number of objects of a kind in a namespace up to which their names are read to see which of the desired ones are
	// missing.
	namesLimit = 500
	// severalMissing is the number of missing objects from which one list of names costs less than to ask for each.
	severalMissing = 2
)

// Prefetch reads the live state of the given desired objects, with one list per kind, so that the next Apply of each
// need not read it; where several are missing, with a list of all names. Recorded reports whether the ledger has an object, and may wait for
// the ledger: the names are listed at the same time where it lacks several objects. The result serves one Apply per object, within 10 s. It
// is an optimisation: after an error the objects concerned are read one by one.
func (a *Applier) Prefetch(ctx context.Context, objects []*unstructured.Unstructured, recorded func(model.ObjectID) bool) error {
	return a.prefetch(ctx, a.cache, objects, recorded)
}

// allRecorded is for objects that the ledger has.
func allRecorded(model.ObjectID) bool { return true }

// prefetch is Prefetch into any cache.
func (a *Applier) prefetch(ctx context.Context, into *liveCache, objects []*unstructured.Unstructured, recorded func(model.ObjectID) bool) error {
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
				return a.prefetchKind(ctx, into, group, recorded)
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
func (a *Applier) prefetchKind(ctx context.Context, into *liveCache, group []*unstructured.Unstructured, recorded func(model.ObjectID) bool) error {
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
	places := slices.Sorted(maps.Keys(namespaces))
	var names *nameLists
	if a.names != nil {
		names = newNameLists(ctx, a.names.Resource(m.Resource))
		defer names.end()
		names.all.Go(func() { names.expect(group, recorded) })
	}
	read := a.pages(m)
	var errs []error
	for selector := range selectors {
		if len(places) > 1 {
			if err := into.list(ctx, read, "", selector, wanted); !apierrors.IsForbidden(err) {
				errs = append(errs, err)
				continue
			}
		}
		for _, ns := range places {
			errs = append(errs, into.list(ctx, read, ns, selector, wanted))
		}
	}
	if err := errors.Join(errs...); err != nil || names == nil {
		return err
	}
	names.all.Wait()
	for _, ns := range places {
		errs = append(errs, into.noteMissing(names, ns, wanted))
	}
	return errors.Join(errs...)
}

// nameLists are the names of all objects of one kind, by namespace. Each namespace is asked at most once.
type nameLists struct {
	ctx    context.Context
	cancel context.CancelFunc
	of     metadata.Getter
	all    sync.WaitGroup // of the goroutines that ask ahead

	mu    sync.Mutex
	lists map[string]func() (nameList, error) // by namespace; guarded by mu
}

// nameList has the names of the objects in a namespace.
type nameList struct {
	there map[string]bool // nil if there are too many
	read  time.Time
}

func newNameLists(ctx context.Context, of metadata.Getter) *nameLists {
	n := &nameLists{of: of, lists: map[string]func() (nameList, error){}}
	n.ctx, n.cancel = context.WithCancel(ctx)
	return n
}

// end ends the requests, and waits for their goroutines.
func (n *nameLists) end() {
	n.cancel()
	n.all.Wait()
}

// expect asks ahead for the namespaces where several of the desired objects are probably missing, because the ledger lacks them.
func (n *nameLists) expect(group []*unstructured.Unstructured, recorded func(model.ObjectID) bool) {
	missing := map[string]int{}
	for _, u := range group {
		if !recorded(IDOf(u)) {
			missing[u.GetNamespace()]++
		}
	}
	for namespace, of := range missing {
		if of >= severalMissing {
			n.all.Go(func() { _, _ = n.in(namespace) })
		}
	}
}

// in returns the names in a namespace.
func (n *nameLists) in(namespace string) (nameList, error) {
	n.mu.Lock()
	list := n.lists[namespace]
	if list == nil {
		list = sync.OnceValues(func() (nameList, error) { return n.ask(namespace) })
		n.lists[namespace] = list
	}
	n.mu.Unlock()
	return list()
}

func (n *nameLists) ask(namespace string) (nameList, error) {
	read := time.Now()
	list, err := n.of.Namespace(namespace).List(n.ctx, metav1.ListOptions{Limit: namesLimit})
	if err != nil || list.GetContinue() != "" {
		return nameList{}, err
	}
	there := map[string]bool{}
	for _, o := range list.Items {
		there[o.Name] = true
	}
	return nameList{there, read}, nil
}

// noteMissing notes which of the wanted objects in a namespace do not exist. Those that are left in wanted have not been found among the
// project's objects.
func (c *liveCache) noteMissing(names *nameLists, namespace string, wanted map[cacheKey]bool) error {
	var missing []cacheKey
	for key := range wanted {
		if key.id.Namespace == namespace {
			missing = append(missing, key)
		}
	}
	if len(missing) < severalMissing {
		return nil
	}
	list, err := names.in(namespace)
	if err != nil || list.there == nil {
		return err
	}
	c.absent(slices.DeleteFunc(missing, func(key cacheKey) bool { return list.there[key.id.Name] }), list.read)
	return nil
}

// list reads the wanted objects in one list, and removes them from wanted.
func (c *liveCache) list(ctx context.Context, page pages, namespace, selector string, wanted map[cacheKey]bool) error {
	opts := metav1.ListOptions{LabelSelector: selector, Limit: 1000}
	for {
		read := time.Now()
		found, more, err := page(ctx, namespace, opts)
		if err != nil {
			return err
		}
		maps.DeleteFunc(found, func(key cacheKey, _ foundLive) bool { return !wanted[key] })
		for key := range found {
			delete(wanted, key)
		}
		c.put(found, read)
		if opts.Continue = more; more == "" {
			return nil
		}
	}
}

// pages reads a part of the objects of a kind in a namespace, in all if it is empty. more, unless empty, continues the list.
type pages func(ctx context.Context, namespace string, o metav1.ListOptions) (found map[cacheKey]foundLive, more string, err error)

// pages returns how the objects of a kind are read.
func (a *Applier) pages(m *meta.RESTMapping) pages {
	kind := m.GroupVersionKind
	if a.lists != nil {
		return func(ctx context.Context, namespace string, o metav1.ListOptions) (map[cacheKey]foundLive, string, error) {
			list, err := a.lists.List(ctx, m.Resource, namespace, o)
			if err != nil {
				return nil, "", err
			}
			found := make(map[cacheKey]foundLive, len(list.Items))
			for _, item := range list.Items {
				namespace, name, err := item.Name()
				if err != nil {
					return nil, "", err
				}
				id := model.ObjectID{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: name}
				found[cacheKey{id, kind.Version}] = foundLive{encoded: item, kind: kind}
			}
			return found, list.Metadata.Continue, nil
		}
	}
	return func(ctx context.Context, namespace string, o metav1.ListOptions) (map[cacheKey]foundLive, string, error) {
		list, err := a.dyn.Resource(m.Resource).Namespace(namespace).List(ctx, o)
		if err != nil {
			return nil, "", err
		}
		found := make(map[cacheKey]foundLive, len(list.Items))
		for i := range list.Items {
			found[keyFor(&list.Items[i])] = foundLive{decoded: &list.Items[i]}
		}
		return found, list.GetContinue(), nil
	}
}
