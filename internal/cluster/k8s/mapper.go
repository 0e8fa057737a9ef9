package k8s

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/discovery"
)

// mapperResetInterval bounds how often an unknown kind makes the mapper read the discovery documents again.
const mapperResetInterval = time.Second

// resettingMapper is a REST mapper that drops its cache when it is asked for an unknown kind. client-go's own deferred
// mapper does so only the first time.
type resettingMapper struct {
	life      context.Context // of the client
	discovery discovery.Client

	mu    sync.Mutex
	known *kinds    // guarded by mu; nil until it is asked for
	reset time.Time // guarded by mu; when the cache was last dropped
}

func newResettingMapper(life context.Context, d discovery.Client) *resettingMapper {
	return &resettingMapper{life: life, discovery: d}
}

// mapper returns the mapper of the kinds that were read last, and reads them if there are none. One reads at a time.
func (m *resettingMapper) mapper() (meta.RESTMapper, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		groups, err := m.discovery.Groups(quiet(m.life)) // the interface of mappers has no context
		if err != nil {
			return nil, err
		}
		m.known = &kinds{RESTMapper: discovery.Mapper(groups)}
	}
	return m.known, nil
}

// kinds is a mapper that keeps the mappings that it has found: client-go's goes through all groups for each.
type kinds struct {
	meta.RESTMapper
	found sync.Map // from kindKey to *meta.RESTMapping
}

// kindKey is a kind, and a version of it.
type kindKey struct {
	schema.GroupKind
	version string
}

// RESTMapping implements meta.RESTMapper.
func (k *kinds) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return k.RESTMapper.RESTMapping(gk, versions...)
	}
	key := kindKey{gk, versions[0]}
	if m, ok := k.found.Load(key); ok {
		return m.(*meta.RESTMapping), nil
	}
	m, err := k.RESTMapper.RESTMapping(gk, versions...)
	if err == nil {
		k.found.Store(key, m)
	}
	return m, err
}

// Reset drops the cache.
func (m *resettingMapper) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset = time.Now()
	m.known = nil
}

// stale drops the cache, and reports true, unless it was dropped within mapperResetInterval.
func (m *resettingMapper) stale() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.reset) < mapperResetInterval {
		return false
	}
	m.reset = time.Now()
	m.known = nil
	return true
}

// lookup calls f. If f finds no match, lookup calls it once more with an empty cache.
func lookup[T any](m *resettingMapper, f func(meta.RESTMapper) (T, error)) (T, error) {
	try := func() (v T, err error) {
		known, err := m.mapper()
		if err != nil {
			return v, err
		}
		return f(known)
	}
	v, err := try()
	if meta.IsNoMatchError(err) && m.stale() {
		return try()
	}
	return v, err
}

// KindFor implements meta.RESTMapper.
func (m *resettingMapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return lookup(m, func(to meta.RESTMapper) (schema.GroupVersionKind, error) { return to.KindFor(r) })
}

// KindsFor implements meta.RESTMapper.
func (m *resettingMapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return lookup(m, func(to meta.RESTMapper) ([]schema.GroupVersionKind, error) { return to.KindsFor(r) })
}

// ResourceFor implements meta.RESTMapper.
func (m *resettingMapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return lookup(m, func(to meta.RESTMapper) (schema.GroupVersionResource, error) { return to.ResourceFor(r) })
}

// ResourcesFor implements meta.RESTMapper.
func (m *resettingMapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return lookup(m, func(to meta.RESTMapper) ([]schema.GroupVersionResource, error) { return to.ResourcesFor(r) })
}

// RESTMapping implements meta.RESTMapper.
func (m *resettingMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return lookup(m, func(to meta.RESTMapper) (*meta.RESTMapping, error) { return to.RESTMapping(gk, versions...) })
}

// RESTMappings implements meta.RESTMapper.
func (m *resettingMapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return lookup(m, func(to meta.RESTMapper) ([]*meta.RESTMapping, error) { return to.RESTMappings(gk, versions...) })
}

// ResourceSingularizer implements meta.RESTMapper.
func (m *resettingMapper) ResourceSingularizer(resource string) (string, error) {
	known, err := m.mapper()
	if err != nil {
		return resource, err
	}
	return known.ResourceSingularizer(resource)
}

var _ meta.ResettableRESTMapper = (*resettingMapper)(nil)
