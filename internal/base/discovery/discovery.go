// Package discovery asks an API server which kinds it serves: a cluster's, or a session's, which keeps the same conventions.
// client-go's discovery does the same, but it links the types of every API group into the program; with the typed clients that
// need them too, they are 15 MB of 77 (November 2026).
package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// aggregated names the answers that a request for all groups with their resources accepts: the aggregated form of servers since
// 1.26, in its stable and in its beta version, or the plain list of groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// Client asks one server. It keeps nothing. Its methods may be called from any goroutine.
type Client struct{ rest rest.Interface }

// New returns a client that makes its requests with hc.
func New(to *rest.Config, hc *http.Client) (Client, error) {
	rc := rest.CopyConfig(to)
	rc.APIPath, rc.GroupVersion = "", nil
	rc.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	if rc.UserAgent == "" {
		rc.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	c, err := rest.UnversionedRESTClientForConfigAndClient(rc, hc)
	return Client{c}, err
}

// Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []Version
}

// Version is a version of a group with its resources; a subresource follows its resource.
type Version struct {
	Name      string
	Resources []metav1.APIResource
}

// Groups returns all groups in the order of the server, the core group first. Groups that cannot be read, because the server behind them
// is down or does not answer, are left out: they must not hide all others.
func (d Client) Groups(ctx context.Context) ([]Group, error) {
	roots := []string{"/api", "/apis"}
	all := make([][]Group, len(roots))
	g, ctx := errgroup.WithContext(ctx)
	for i, root := range roots {
		g.Go(func() error {
			raw, err := d.get(ctx, aggregated, root)
			if apierrors.IsNotFound(err) {
				return nil // a server that has only one of them
			}
			if err != nil {
				return err
			}
			if all[i], err = d.read(ctx, root, raw); err != nil {
				return fmt.Errorf("read the kinds at %s: %w", root, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(all...), nil
}

// answerTime bounds the time for one answer. Servers answer from memory, in well under a second; a tunnel to one that is
// gone takes connections and never answers, and a request for kinds would never end. Half a minute is more than a slow line needs
// for the one or two megabytes of a cluster with many kinds.
const answerTime = 30 * time.Second

// get returns the answer to one request.
func (d Client) get(ctx context.Context, accept string, at ...string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	raw, err := d.rest.Get().AbsPath(at...).SetHeader("Accept", accept).Do(limited).Raw()
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("the server has not answered within %v: %w", answerTime, err)
	}
	return raw, err
}

// read reads an answer in any of the forms that aggregated accepts.
func (d Client) read(ctx context.Context, root string, raw []byte) ([]Group, error) {
	var of metav1.TypeMeta
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, err
	}
	switch of.Kind {
	case "APIGroupDiscoveryList":
		var list apidiscovery.APIGroupDiscoveryList // the beta version has the same fields
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		return fromAggregated(list), nil
	case "APIVersions":
		var list metav1.APIVersions
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		return d.each(ctx, root, []metav1.APIGroup{{Versions: versionsOf(list.Versions)}})
	default:
		var list metav1.APIGroupList
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		return d.each(ctx, root, list.Groups)
	}
}

func versionsOf(names []string) (out []metav1.GroupVersionForDiscovery) {
	for _, v := range names {
		out = append(out, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
	}
	return out
}

func fromAggregated(list apidiscovery.APIGroupDiscoveryList) (all []Group) {
	for _, g := range list.Items {
		out := Group{Name: g.Name}
		for _, v := range g.Versions {
			of := Version{Name: v.Version}
			for _, r := range v.Resources {
				of.Resources = append(of.Resources, resourceOf(g.Name, v.Version, r.Resource, r.ResponseKind, r.SingularResource, r.Scope, r.Verbs, r.ShortNames, r.Categories))
				for _, s := range r.Subresources {
					of.Resources = append(of.Resources, resourceOf(g.Name, v.Version, path.Join(r.Resource, s.Subresource), s.ResponseKind, "", r.Scope, s.Verbs, nil, nil))
				}
			}
			out.Versions = append(out.Versions, of)
		}
		all = append(all, out)
	}
	return all
}

func resourceOf(group, version, name string, kind *metav1.GroupVersionKind, singular string, scope apidiscovery.ResourceScope, verbs, short, categories []string) metav1.APIResource {
	r := metav1.APIResource{Name: name, SingularName: singular, Namespaced: scope == apidiscovery.ScopeNamespace, Group: group, Version: version, Verbs: verbs, ShortNames: short, Categories: categories}
	if kind != nil {
		r.Kind = kind.Kind
		if kind.Group != "" || kind.Version != "" {
			r.Group, r.Version = kind.Group, kind.Version
		}
	}
	return r
}

// mostReads bounds how many versions are read side by side.
const mostReads = 8

// each reads the resources of every version, for servers without the aggregated form.
func (d Client) each(ctx context.Context, root string, list []metav1.APIGroup) ([]Group, error) {
	all := make([]Group, len(list))
	var mu sync.Mutex
	read := map[[2]int][]metav1.APIResource{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(mostReads)
	for i, of := range list {
		all[i].Name = of.Name
		slices.SortStableFunc(of.Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return boolOrder(b.Version == of.PreferredVersion.Version) - boolOrder(a.Version == of.PreferredVersion.Version)
		})
		for n, v := range of.Versions {
			all[i].Versions = append(all[i].Versions, Version{Name: v.Version})
			g.Go(func() error {
				raw, err := d.get(ctx, "application/json", root, v.GroupVersion)
				if err != nil {
					if ctx.Err() != nil {
						return err
					}
					return nil // the server behind one group is down, or does not answer
				}
				var resources metav1.APIResourceList
				if err := json.Unmarshal(raw, &resources); err != nil {
					return fmt.Errorf("read the kinds of %s: %w", v.GroupVersion, err)
				}
				mu.Lock()
				defer mu.Unlock()
				read[[2]int{i, n}] = resources.APIResources
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for at := range maps.Keys(read) {
		all[at[0]].Versions[at[1]].Resources = read[at]
	}
	return all, nil
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Mapper returns a mapper of the kinds of groups. Where several have a kind, version v1 of the core group comes first, then groups in
// their order, each with the version that it prefers first, as for kubectl.
func Mapper(groups []Group) meta.RESTMapper {
	var all meta.MultiRESTMapper
	var resources []schema.GroupVersionResource
	var kinds []schema.GroupVersionKind
	next := func(group, version string) {
		resources = append(resources, schema.GroupVersionResource{Group: group, Version: version, Resource: meta.AnyResource})
		kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: meta.AnyKind})
	}
	next("", "v1")
	for _, g := range groups {
		for _, v := range g.Versions {
			next(g.Name, v.Name)
			all = append(all, versionMapper(schema.GroupVersion{Group: g.Name, Version: v.Name}, v.Resources))
		}
	}
	for _, g := range groups {
		next(g.Name, meta.AnyVersion)
	}
	return meta.PriorityRESTMapper{Delegate: all, ResourcePriority: resources, KindPriority: kinds}
}

func versionMapper(gv schema.GroupVersion, resources []metav1.APIResource) meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{gv})
	for _, r := range resources {
		if strings.Contains(r.Name, "/") || r.Kind == "" {
			continue
		}
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if r.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		plural := gv.WithResource(r.Name)
		singular := gv.WithResource(r.SingularName)
		if r.SingularName == "" { // servers before 1.27
			singular = gv.WithResource(strings.ToLower(r.Kind))
		}
		m.AddSpecific(gv.WithKind(strings.ToLower(r.Kind)), plural, singular, scope)
		m.AddSpecific(gv.WithKind(r.Kind), plural, singular, scope)
		m.Add(gv.WithKind(r.Kind+"List"), scope)
	}
	m.Add(gv.WithKind("List"), meta.RESTScopeRoot)
	return m
}
