package k8s

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// mapperResetInterval bounds how often an unknown kind makes the mapper read the discovery documents again.
const mapperResetInterval = time.Second

// resettingMapper is a REST mapper that drops its cache when it is asked for an unknown kind. client-go's own deferred
// mapper does so only the first time.
type resettingMapper struct {
	deferred *restmapper.DeferredDiscoveryRESTMapper

	mu    sync.Mutex
	reset time.Time // guarded by mu; when the cache was last dropped
}

func newResettingMapper(d discovery.DiscoveryInterface) *resettingMapper {
	return &resettingMapper{deferred: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}
}

// Reset drops the cache.
func (m *resettingMapper) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset = time.Now()
	m.deferred.Reset()
}

// stale drops the cache, and reports true, unless it was dropped within mapperResetInterval.
func (m *resettingMapper) stale() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.reset) < mapperResetInterval {
		return false
	}
	m.reset = time.Now()
	m.deferred.Reset()
	return true
}

// lookup calls f. If f finds no match, lookup calls it once more with an empty cache.
func lookup[T any](m *resettingMapper, f func() (T, error)) (T, error) {
	v, err := f()
	if meta.IsNoMatchError(err) && m.stale() {
		return f()
	}
	return v, err
}

// KindFor implements meta.RESTMapper.
func (m *resettingMapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return lookup(m, func() (schema.GroupVersionKind, error) { return m.deferred.KindFor(r) })
}

// KindsFor implements meta.RESTMapper.
func (m *resettingMapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return lookup(m, func() ([]schema.GroupVersionKind, error) { return m.deferred.KindsFor(r) })
}

// ResourceFor implements meta.RESTMapper.
func (m *resettingMapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return lookup(m, func() (schema.GroupVersionResource, error) { return m.deferred.ResourceFor(r) })
}

// ResourcesFor implements meta.RESTMapper.
func (m *resettingMapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return lookup(m, func() ([]schema.GroupVersionResource, error) { return m.deferred.ResourcesFor(r) })
}

// RESTMapping implements meta.RESTMapper.
func (m *resettingMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return lookup(m, func() (*meta.RESTMapping, error) { return m.deferred.RESTMapping(gk, versions...) })
}

// RESTMappings implements meta.RESTMapper.
func (m *resettingMapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return lookup(m, func() ([]*meta.RESTMapping, error) { return m.deferred.RESTMappings(gk, versions...) })
}

// ResourceSingularizer implements meta.RESTMapper.
func (m *resettingMapper) ResourceSingularizer(resource string) (string, error) {
	return m.deferred.ResourceSingularizer(resource)
}

var _ meta.ResettableRESTMapper = (*resettingMapper)(nil)
