package k8s

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// WatchRequest selects the objects to watch.
type WatchRequest struct {
	// Cluster is the context of the cluster, as in model.K8sTarget. A Fleet reads it; a client of one cluster does not.
	Cluster string
	// Namespaces to watch; none means all namespaces.
	Namespaces []string
	// Selector is a label selector; empty selects everything. Name, unless empty, selects the object of this name.
	Selector, Name string
	// OnError, if not nil, receives the error of each failed attempt to list or watch; the watch retries automatically.
	// It is called between callbacks, never during one. An error for which IsForbidden holds does not go away on its
	// own.
	OnError func(error)
	// OnTrouble, if not nil, receives a problem with its mend when the watch does not work, and nil when it works
	// again. It is called at once if the watch is forbidden, and after ten seconds of failed attempts for other errors.
	// It is not called when the cluster does not answer. It is called under the same rules as OnError.
	OnTrouble func(error)
}

// watchBackoff returns the pauses between the attempts of a watch: it reconnects to a restarted server within seconds.
func watchBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Cap: 5 * time.Second, Steps: 8, Factor: 2, Jitter: 0.5}
}

// kindRetry is the time between two checks of a watch whether the cluster serves a kind yet.
const kindRetry = 2 * time.Second

// item is the record that a watch keeps of an object between two changes: as little as its owner needs.
type item[E any] struct {
	uid   string
	event E
}

// watcher turns objects into events of type E. It keeps the last event of each object, not the object itself: this
// saves memory, and it can still recognise deletions and repetitions.
type watcher[E any] struct {
	req WatchRequest
	// convert makes the event and reports whether the consumer wants the object.
	convert func(runtime.Object) (E, bool)
	// same reports whether old and new look the same to the consumer.
	same func(old, new E) bool
	// deleted makes the event for the deletion of old's object; nil drops deletions.
	deleted func(old E) E
	// synced makes the event that marks the end of the initial list.
	synced func() E
	// slim reduces an event to the part that has to be kept; nil keeps all of it.
	slim func(E) E
	// trouble records the result of each attempt; it is used with mu held. Nil records nothing.
	trouble *trouble

	mu      sync.Mutex
	emit    func(E) // called with mu held, so one at a time
	waiting int     // guarded by mu; namespaces that have not been listed yet
}

// lister is a client of the objects of one kind in one namespace.
type lister[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

func listWatch[L runtime.Object](of lister[L]) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return of.List(ctx, o)
		},
		WatchFuncWithContext: of.Watch,
	}
}

// from makes the convert function of a watcher from one for the type of its objects.
func from[O runtime.Object, E any](convert func(O) E) func(runtime.Object) (E, bool) {
	return func(o runtime.Object) (event E, ok bool) {
		object, ok := o.(O)
		if ok {
			event = convert(object)
		}
		return event, ok
	}
}

// run watches all namespaces of the request until ctx is done, and returns the context's error.
func (w *watcher[E]) run(ctx context.Context, lw func(namespace string) *cache.ListWatch, emit func(E)) error {
	namespaces := w.req.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	w.emit, w.waiting = emit, len(namespaces)
	var g errgroup.Group
	for _, ns := range namespaces {
		g.Go(func() error {
			w.reflect(ctx, ns, lw(ns))
			return nil
		})
	}
	_ = g.Wait()
	return ctx.Err()
}

func (w *watcher[E]) reflect(ctx context.Context, namespace string, lw *cache.ListWatch) {
	logger := logr.Discard()
	store := &watchStore[E]{w: w, items: map[string]item[E]{}}
	r := cache.NewReflectorWithOptions(w.reporting(namespace, lw), nil, store, cache.ReflectorOptions{
		Name: "hone", Logger: &logger, Backoff: watchBackoff(),
	})
	r.RunWithContext(quiet(ctx))
}

// into selects the objects of a request in the options of a list or a watch.
func (r WatchRequest) into(o *metav1.ListOptions) {
	o.LabelSelector = r.Selector
	if r.Name != "" {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, r.Name).String()
	}
}

// reporting reports errors to the consumer that the reflector would only log.
func (w *watcher[E]) reporting(namespace string, lw *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			w.req.into(&o)
			list, err := lw.ListWithContextFunc(quiet(ctx), o)
			w.report(ctx, attempt{"list", namespace}, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w.req.into(&o)
			events, err := lw.WatchFuncWithContext(quiet(ctx), o)
			w.report(ctx, attempt{"watch", namespace}, err)
			return events, err
		},
	}
}

func (w *watcher[E]) report(ctx context.Context, what attempt, err error) {
	ended := ctx.Err() != nil || errors.Is(err, context.Canceled)
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err) // which is normal: the watch lists again
	if ended || expired {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble.note(what, err)
	if err == nil || w.req.OnError == nil {
		return
	}
	w.req.OnError(fmt.Errorf("watch: %w", err))
}

// watchStore receives the changes that a reflector reports for one namespace. The reflector calls it from one
// goroutine.
type watchStore[E any] struct {
	w      *watcher[E]
	items  map[string]item[E]
	listed bool
}

// Add implements cache.ReflectorStore.
func (s *watchStore[E]) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *watchStore[E]) Update(obj any) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	_, err := s.update(obj)
	return err
}

// update reports one object and returns its key. It is called with the watcher's mu held.
func (s *watchStore[E]) update(obj any) (string, error) {
	o, ok := obj.(runtime.Object)
	if !ok {
		return "", fmt.Errorf("watch: unexpected %T", obj)
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return "", fmt.Errorf("watch: %w", err)
	}
	key := m.GetNamespace() + "/" + m.GetName()
	uid := string(m.GetUID())
	event, ok := s.w.convert(o)
	old, known := s.items[key]
	if known && (old.uid != uid || !ok) {
		s.gone(key, old)
		known = false
	}
	if !ok || known && s.w.same(old.event, event) {
		return key, nil
	}
	s.w.emit(event)
	if s.w.slim != nil {
		event = s.w.slim(event)
	}
	s.items[key] = item[E]{uid, event}
	return key, nil
}

// gone reports the deletion of an object. It is called with the watcher's mu held.
func (s *watchStore[E]) gone(key string, old item[E]) {
	delete(s.items, key)
	if s.w.deleted != nil {
		s.w.emit(s.w.deleted(old.event))
	}
}

// Delete implements cache.ReflectorStore.
func (s *watchStore[E]) Delete(obj any) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	key := m.GetNamespace() + "/" + m.GetName()
	if old, ok := s.items[key]; ok {
		s.gone(key, old)
	}
	return nil
}

// Replace implements cache.ReflectorStore: objects that are missing from the list were deleted while the watch was
// down.
func (s *watchStore[E]) Replace(list []any, _ string) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	present := make(map[string]bool, len(list))
	for _, obj := range list {
		key, err := s.update(obj)
		if err != nil {
			return err
		}
		present[key] = true
	}
	for key, old := range s.items {
		if !present[key] {
			s.gone(key, old)
		}
	}
	if !s.listed {
		s.listed = true
		if s.w.waiting--; s.w.waiting == 0 {
			s.w.emit(s.w.synced())
		}
	}
	return nil
}

// Resync implements cache.ReflectorStore; there is nothing to repeat.
func (s *watchStore[E]) Resync() error { return nil }

var _ cache.ReflectorStore = (*watchStore[int])(nil)
