package rest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/loop/store"
)

// versionTimeout bounds the wait of a reader for the snapshot that it requests.
const versionTimeout = 3 * time.Second

func (h *Handler) get(a *answer, k *kind, name string) {
	v := h.store.View()
	_, items := k.at(v)
	it := find(items, name)
	if it == nil && k.NameOf != nil {
		it = find(items, k.NameOf(name))
	}
	if it == nil {
		a.fail(apierrors.NewNotFound(k.resource(), name))
		return
	}
	h.sendItem(a, http.StatusOK, k, v, it)
}

// sendItem answers with one object.
func (h *Handler) sendItem(a *answer, code int, k *kind, v store.View, it *item) {
	h.sendObject(a, code, k, v, h.objects(k, v).make(it))
}

// list responds with the objects of a kind, or begins to watch them.
func (h *Handler) list(a *answer, k *kind) {
	o, err := parse(a.r.URL.Query())
	if err != nil {
		a.fail(err)
		return
	}
	if o.Watch {
		h.watch(a, k, o)
		return
	}
	v := h.store.View()
	if want, err := parseVersion(o.ResourceVersion); err == nil && o.Continue == "" && want > v.Seq {
		if v, err = h.await(a.r.Context(), want); err != nil {
			a.fail(err)
			return
		}
	}
	if h.working.Acquire(a.r.Context(), 1) != nil {
		return
	}
	doc, err := func() ([]byte, error) {
		defer h.working.Release(1)
		return h.document(a, k, v, o)
	}()
	if err != nil {
		a.fail(err)
		return
	}
	a.send(http.StatusOK, doc)
}

// document creates the response to a list request.
func (h *Handler) document(a *answer, k *kind, v store.View, o options) ([]byte, error) {
	p, err := h.page(k, v, o)
	if err != nil {
		return nil, err
	}
	if a.as == "Table" {
		return h.table(a, k, v, p)
	}
	return h.listed(a, k, v, p)
}

// page is a part of a list.
type page struct {
	metav1.ListMeta
	items []*item
}

// token is the continue token of a list.
type token struct {
	Version uint64 `json:"v"`
	After   string `json:"a"`
}

// page returns the objects of a list request.
func (h *Handler) page(k *kind, v store.View, o options) (p page, err error) {
	var from string
	var seq uint64
	var items []*item
	if o.Continue != "" {
		var t token
		if raw, err := base64.RawURLEncoding.DecodeString(o.Continue); err != nil || json.Unmarshal(raw, &t) != nil {
			return p, apierrors.NewBadRequest("continue key is not valid")
		}
		var ok bool
		if items, ok = k.exactly(v, t.Version); !ok {
			return p, apierrors.NewResourceExpired("the list to continue is too old: start again")
		}
		from, seq = t.After, t.Version
	} else if seq, items, err = h.asOf(k, v, o); err != nil {
		return p, err
	}
	p.ResourceVersion = formatVersion(seq)
	objects := h.objects(k, v)
	i, found := slices.BinarySearchFunc(items, from, func(it *item, name string) int { return bytes.Compare([]byte(it.Name), []byte(name)) })
	if found {
		i++
	}
	items = items[i:]
	if o.Limit == 0 && o.everything() {
		p.items = items
		return p, nil
	}
	for i, it := range items {
		if !o.matches(objects, it) {
			continue
		}
		if o.Limit > 0 && int64(len(p.items)) == o.Limit {
			t, err := json.Marshal(token{seq, p.items[len(p.items)-1].Name})
			if err != nil {
				return p, err
			}
			p.Continue = base64.RawURLEncoding.EncodeToString(t)
			if o.everything() {
				rest := int64(len(items) - i)
				p.RemainingItemCount = &rest
			}
			break
		}
		p.items = append(p.items, it)
	}
	return p, nil
}

// asOf returns the objects at the resource version of a list request: the newest for "" and "0", an exact version, or a
// version that is not older than the one the client has seen, which v satisfies.
func (h *Handler) asOf(k *kind, v store.View, o options) (uint64, []*item, error) {
	want, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return 0, nil, err
	}
	switch o.ResourceVersionMatch {
	case "", metav1.ResourceVersionMatchNotOlderThan:
	case metav1.ResourceVersionMatchExact:
		if want == 0 {
			return 0, nil, apierrors.NewBadRequest("resourceVersionMatch Exact needs a resourceVersion")
		}
		items, ok := k.exactly(v, want)
		if !ok {
			return 0, nil, expired(want)
		}
		return want, items, nil
	default:
		return 0, nil, apierrors.NewBadRequest(fmt.Sprintf("resourceVersionMatch %q is not known", o.ResourceVersionMatch))
	}
	if o.ResourceVersionMatch != "" && o.ResourceVersion == "" {
		return 0, nil, apierrors.NewBadRequest("resourceVersionMatch needs a resourceVersion")
	}
	seq, items := k.at(v)
	return seq, items, nil
}

// await waits for the snapshot with the given number, or a newer one.
func (h *Handler) await(ctx context.Context, want uint64) (store.View, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	for {
		changed := h.store.Changed()
		v := h.store.View()
		if v.Seq >= want {
			return v, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", want, v.Seq), 1)
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
			return v, err
		}
	}
}

func parseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q", text))
	}
	return n, nil
}

func expired(version uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d", version))
}

// listed creates a list, one object after another.
func (h *Handler) listed(a *answer, k *kind, v store.View, p page) ([]byte, error) {
	objects := h.objects(k, v)
	head := struct {
		Kind       string          `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Metadata   metav1.ListMeta `json:"metadata"`
	}{k.Name + "List", k.Group + "/" + k.Version, p.ListMeta}
	if a.as == "PartialObjectMetadataList" {
		head.Kind, head.APIVersion = a.as, "meta.k8s.io/v1"
	}
	doc, err := json.Marshal(head)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	b := bytes.NewBuffer(make([]byte, 0, 1<<10*(len(p.items)+1)))
	b.Write(doc[:len(doc)-1])
	b.WriteString(`,"items":[`)
	for i, it := range p.items {
		if i > 0 {
			b.WriteByte(',')
		}
		one, err := objects.encode(objects.make(it), a.format)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		b.Write(one)
	}
	b.WriteString("]}\n")
	return h.store.Redactor(v).JSON(b.Bytes()), nil
}
