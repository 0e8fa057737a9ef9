// Package rest serves kinds of objects by the conventions of Kubernetes, so that kubectl and other Kubernetes clients can
// list, watch and change them: discovery, OpenAPI, tables, selectors, patches, and resource versions, which are the numbers
// of the store's snapshots.
//
// # Concurrency
//
// Reading takes a snapshot and no lock that the loop uses. The changes since an earlier snapshot are computed by the
// requests, once per kind and snapshot; each watch is written by the goroutine of its own request. Writing dispatches actions
// and waits for the snapshot that contains them.
package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"golang.org/x/sync/semaphore"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Store is the source of the objects and the destination of changes.
type Store interface {
	View() store.View
	// Dispatch returns the time that the actions carry; zero if the session has ended.
	Dispatch(actions ...store.Action) time.Time
	// Changed returns a channel that is closed when there is a newer snapshot than at the time of the call, or soon after.
	Changed() <-chan struct{}
	// Redactor returns the redactor for the secrets of a snapshot.
	Redactor(v store.View) *redact.Redactor
	// Session identifies the session, so that objects of different sessions differ.
	Session(v store.View) string
}

// Handler serves all paths of Kubernetes' API.
type Handler struct {
	store    *Writer
	version  string
	kinds    []*kind
	now      func() time.Time
	working  *semaphore.Weighted
	openAPI  *documents
	patience time.Duration
}

// kind is a served kind with its history.
type kind struct {
	projection.Kind
	history
}

func (k *kind) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Plural}
}

func (k *kind) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name}
}

// verbs returns the verbs that requests may use.
func (k *kind) verbs() []string {
	v := []string{"get", "list", "watch"}
	if k.Write != nil {
		v = append(v, "create", "delete", "patch", "update")
	}
	return v
}

// Describe adds an OpenAPI document of version 3 to those that are served, at /openapi/v3/NAME.
func (h *Handler) Describe(name string, document func() map[string]any) {
	h.openAPI.more[name] = document
}

// New returns a handler. working limits how many of its requests work at the same time; see NewLimit. If requests can use one
// name for two kinds, clients use the first kind.
func New(w *Writer, version string, working *semaphore.Weighted, all []projection.Kind) *Handler {
	h := &Handler{store: w, version: version, now: time.Now, working: working, patience: writeTimeout}
	for _, k := range all {
		h.kinds = append(h.kinds, &kind{Kind: k, history: history{kind: k}})
	}
	h.openAPI = newDocuments(h.kinds, version)
	return h
}

// Paths are the prefixes of the paths that the handler serves. "/api" itself is one; the paths below it are not.
var Paths = []string{"/api", "/apis", "/apis/", "/openapi/", "/version", "/healthz", "/livez", "/readyz"}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, err := negotiate(r.Header.Values("Accept"), r.URL.Path)
	if err != nil {
		Fail(w, r, err)
		return
	}
	a := &answer{w: w, r: r, format: f}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch parts[0] {
	case "apis":
		if len(parts) >= 4 {
			h.resource(a, parts[1:4], nameOf(r.URL.EscapedPath(), 4))
			return
		}
	case "openapi":
		h.readOnly(a, func() { h.openAPI.serve(a, parts[1:]) })
		return
	}
	h.readOnly(a, func() { h.discover(a, parts) })
}

// readOnly refuses everything but reading.
func (h *Handler) readOnly(a *answer, serve func()) {
	if a.r.Method != http.MethodGet && a.r.Method != http.MethodHead {
		a.w.Header().Set("Allow", "GET, HEAD")
		a.fail(statusOf(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "only reading is possible here"))
		return
	}
	serve()
}

// nameOf returns the segments of a path after the given number of segments. Names may contain slashes, escaped or not,
// because the Tiltfile chooses the names of resources.
func nameOf(escaped string, after int) []string {
	segments := strings.Split(strings.Trim(escaped, "/"), "/")
	segments = segments[min(after, len(segments)):]
	for i, s := range segments {
		if plain, err := url.PathUnescape(s); err == nil {
			segments[i] = plain
		}
	}
	return segments
}

// resource serves GROUP/VERSION/PLURAL[/NAME[/status]]; name holds the segments after PLURAL. A last segment "status" is part
// of the name if an object has that name or if the segment was escaped.
func (h *Handler) resource(a *answer, parts, name []string) {
	i := slices.IndexFunc(h.kinds, func(k *kind) bool {
		return k.Group == parts[0] && k.Version == parts[1] && k.Plural == parts[2]
	})
	if i < 0 {
		a.fail(statusOf(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource"))
		return
	}
	k := h.kinds[i]
	if len(name) == 0 {
		h.collection(a, k)
		return
	}
	last := len(name) - 1
	status := last > 0 && name[last] == "status" && !h.has(k, strings.Join(name, "/"))
	switch {
	case status && k.Write == nil:
		a.fail(statusOf(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource"))
		return
	case status:
		name = name[:last]
	}
	h.object(a, k, strings.Join(name, "/"), status)
}

// has reports whether an object with the given name exists.
func (h *Handler) has(k *kind, name string) bool {
	_, items := k.at(h.store.View())
	return find(items, name) != nil
}

func (h *Handler) collection(a *answer, k *kind) {
	switch a.r.Method {
	case http.MethodGet, http.MethodHead:
		h.list(a, k)
	case http.MethodPost:
		h.create(a, k)
	default:
		a.fail(apierrors.NewMethodNotSupported(k.resource(), strings.ToLower(a.r.Method)))
	}
}

func (h *Handler) object(a *answer, k *kind, name string, status bool) {
	switch a.r.Method {
	case http.MethodGet, http.MethodHead:
		h.get(a, k, name)
	case http.MethodPut:
		h.replace(a, k, name, status)
	case http.MethodPatch:
		h.patch(a, k, name, status)
	case http.MethodDelete:
		if !status {
			h.remove(a, k, name)
			return
		}
		fallthrough
	default:
		a.fail(apierrors.NewMethodNotSupported(k.resource(), strings.ToLower(a.r.Method)))
	}
}
