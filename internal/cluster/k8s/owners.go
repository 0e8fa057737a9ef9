package k8s

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// OwnerRef names an object that owns another object.
type OwnerRef struct {
	APIVersion string
	Kind       string
	Name       string
	UID        string
	// Controller is set for the owner that manages the object.
	Controller bool
	// CreatedAt is the time of the owner's creation; zero in references, filled by OwnerChain.
	CreatedAt time.Time
	// Labels of the owner; nil in references, filled by OwnerChain.
	Labels map[string]string
}

func ownersOf(o metav1.Object) []OwnerRef {
	refs := o.GetOwnerReferences()
	if len(refs) == 0 {
		return nil
	}
	out := make([]OwnerRef, len(refs))
	for i, r := range refs {
		out[i] = OwnerRef{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Controller: r.Controller != nil && *r.Controller,
		}
	}
	return out
}

const (
	// maxOwners bounds the cache of owners, maxOwnerDepth the length of a chain.
	maxOwners     = 10000
	maxOwnerDepth = 10
	// ownerBatch is the number of owners of one kind and namespace that are looked up one by one before a single
	// request lists the rest. ownerBatchAge is the period in which these look-ups are counted.
	ownerBatch    = 4
	ownerBatchAge = 5 * time.Second
)

// owner is a cache entry: an object and its controller. In practice neither changes for a given UID, so entries do not
// expire.
type owner struct {
	ref    OwnerRef
	parent *OwnerRef
}

type ownerCache struct {
	mu     sync.Mutex
	byUID  map[string]owner            // guarded by mu
	misses map[ownerScope]*ownerMisses // guarded by mu
}

// ownerScope is the scope of one list request.
type ownerScope struct {
	gvr       schema.GroupVersionResource
	namespace string
}

// ownerMisses counts look-ups of one scope.
type ownerMisses struct {
	since time.Time
	n     int
}

func newOwnerCache() *ownerCache {
	return &ownerCache{byUID: map[string]owner{}, misses: map[ownerScope]*ownerMisses{}}
}

func (c *ownerCache) get(uid string) (owner, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.byUID[uid]
	return o, ok
}

func (c *ownerCache) put(os ...owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byUID)+len(os) > maxOwners {
		clear(c.byUID)
	}
	for _, o := range os {
		c.byUID[o.ref.UID] = o
	}
}

// missed counts a look-up, and reports whether it is time to list everything instead.
func (c *ownerCache) missed(s ownerScope) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.misses[s]
	if m == nil || time.Since(m.since) > ownerBatchAge {
		m = &ownerMisses{since: time.Now()}
		c.misses[s] = m
	}
	m.n++
	return m.n%ownerBatch == 0
}

// OwnerRequest asks for the owners of an object.
type OwnerRequest struct {
	// Cluster is the context of the cluster, as in model.K8sTarget. A Fleet reads it; a client of one cluster does not.
	Cluster string
	// Namespace is the namespace of the object, and Ref its direct owner.
	Namespace string
	Ref       OwnerRef
}

// OwnerChain returns the owner of a request, its controller, the controller of that, and so on up to the object that has none, each with
// its creation time and labels. An owner that does not exist ends the chain without an error, so the chain may be
// empty. On another error OwnerChain returns the part of the chain that it found. Results are cached by UID; a burst of
// look-ups in one namespace turns into a few list requests.
func (c *Client) OwnerChain(ctx context.Context, req OwnerRequest) ([]OwnerRef, error) {
	var chain []OwnerRef
	for next := &req.Ref; next != nil && len(chain) < maxOwnerDepth; {
		o, err := c.lookUpOwner(ctx, c.namespace(req.Namespace), *next)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return chain, nil
		}
		if err != nil {
			return chain, fmt.Errorf("find owner %s/%s: %w", next.Kind, next.Name, c.Explain(contextError(ctx, err)))
		}
		chain = append(chain, o.ref)
		next = o.parent
	}
	return chain, nil
}

// lookUpOwner returns an object and its controller: from the cache, from a list of the whole scope after several
// look-ups in it, or by a request for this object alone. An object of that name with another UID counts as not found.
func (c *Client) lookUpOwner(ctx context.Context, namespace string, ref OwnerRef) (owner, error) {
	if o, ok := c.owners.get(ref.UID); ok {
		return o, nil
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return owner{}, err
	}
	mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, gv.Version)
	if err != nil {
		return owner{}, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespace = ""
	}
	scope := ownerScope{mapping.Resource, namespace}
	if c.owners.missed(scope) {
		c.listOwners(ctx, scope, mapping.GroupVersionKind)
		if o, ok := c.owners.get(ref.UID); ok {
			return o, nil
		}
	}
	m, err := c.metadata.Resource(scope.gvr).Namespace(namespace).Get(quiet(ctx), ref.Name, metav1.GetOptions{})
	if err != nil {
		return owner{}, err
	}
	o := newOwner(m, mapping.GroupVersionKind)
	if o.ref.UID != ref.UID {
		// This is another object of the same name: the owner itself is gone.
		return owner{}, apierrors.NewNotFound(scope.gvr.GroupResource(), ref.Name)
	}
	c.owners.put(o)
	return o, nil
}

// listOwners fills the cache with all objects of a scope, from the server's cache. It ignores errors: the single
// look-up reports them.
func (c *Client) listOwners(ctx context.Context, scope ownerScope, gvk schema.GroupVersionKind) {
	list, err := c.metadata.Resource(scope.gvr).Namespace(scope.namespace).List(quiet(ctx), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return
	}
	all := make([]owner, len(list.Items))
	for i := range list.Items {
		all[i] = newOwner(&list.Items[i], gvk)
	}
	c.owners.put(all...)
}

func newOwner(m *metav1.PartialObjectMetadata, gvk schema.GroupVersionKind) owner {
	o := owner{ref: OwnerRef{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: m.Name, UID: string(m.UID),
		CreatedAt: m.CreationTimestamp.Time, Labels: m.Labels,
	}}
	refs := ownersOf(m)
	if i := slices.IndexFunc(refs, func(r OwnerRef) bool { return r.Controller }); i >= 0 {
		o.parent = &refs[i]
	} else if len(refs) > 0 {
		o.parent = &refs[0]
	}
	return o
}
