// Package kube is a storage in Secrets of a Kubernetes namespace. A document is a Secret, or several if it is large, and its API server
// compares the resource version when the Secret is written.
package kube

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Storage keeps documents in Secrets of a namespace.
type Storage struct {
	secrets   k8s.Secrets
	namespace string
}

var _ storage.Storage = (*Storage)(nil)

// Cluster is a cluster as far as this package needs it.
type Cluster interface {
	Secrets(namespace string) k8s.Secrets
}

// Open returns the storage at kube://[NAMESPACE]. Without a namespace, it is the one that is passed. Open sends no request.
func Open(address string, c Cluster, namespace string) (*Storage, error) {
	named, ok := strings.CutPrefix(address, "kube://")
	if named = strings.TrimSuffix(named, "/"); named != "" {
		namespace = named
	}
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 {
		return nil, problem.New(address+" names no namespace of a cluster", "write kube://NAMESPACE, or kube:// for the session's namespace")
	}
	return &Storage{secrets: c.Secrets(namespace), namespace: namespace}, nil
}

// Load implements storage.Storage. Shards vanish when the document is replaced; then it reads the new ones.
func (s *Storage) Load(ctx context.Context, name string) (storage.Document, error) {
	if err := storage.CheckName(name); err != nil {
		return storage.Document{}, err
	}
	ctx = k8s.Patiently(ctx, nil)
	for last := storage.None; ; {
		live, err := s.get(ctx, name)
		if err != nil {
			return storage.Document{}, s.fail("load", name, err)
		}
		doc := storage.Document{Version: versionOf(live)}
		if doc.Version == storage.None {
			return doc, storage.ErrMissing
		}
		doc.Data, err = s.data(ctx, live)
		switch {
		case err == nil:
			return doc, nil
		case !errors.Is(err, errDamaged) || doc.Version == last:
			return storage.Document{}, s.fail("load", name, err)
		}
		last = doc.Version
	}
}

// saveTries is how often Save writes if answers are lost, or others change the labels of the Secret meanwhile.
const saveTries = 10

// Save implements storage.Storage. The new version is random and known beforehand: the Secret tells whether a write took place whose
// answer was lost.
func (s *Storage) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	if err := storage.CheckName(name); err != nil {
		return storage.None, err
	}
	var lost atomic.Bool // a request was sent twice, and the first one may have had an effect
	ctx = k8s.Patiently(ctx, func(k8s.Wait) { lost.Store(true) })
	w := write{name: name, data: data, is: rand.Text()}
	var err error
	for range saveTries {
		var live *unstructured.Unstructured
		if live, err = s.get(ctx, name); err != nil {
			break
		}
		switch {
		case tokenOf(live) == w.is:
			s.sweep(ctx, w.name, w.sharded)
			return storage.Version(w.is), nil
		case versionOf(live) == was && w.continues(live):
		case lost.Load():
			return storage.None, s.fail("save", name, errLost)
		default:
			s.sweep(ctx, w.name, w.sharded)
			return storage.None, storage.ErrStale
		}
		if err = s.write(ctx, &w, live); err == nil {
			s.sweep(ctx, w.name, w.sharded)
			return storage.Version(w.is), nil
		}
		if k8s.IsCutOff(err) || k8s.AsBusy(err) != nil {
			lost.Store(true)
		} else if !raced(err) {
			break
		}
	}
	return storage.None, s.fail("save", name, err)
}

// errLost says that a write may have taken place.
var errLost = errors.New("the API server's answer to a write was lost")

// raced reports whether a write failed because another one came first.
func raced(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && missingNamespace(err) == ""
}

// write is one call of Save.
type write struct {
	name    string
	data    []byte
	is      string // the new version
	base    string // the token of the parent for which the shards were made
	shards  []string
	sharded bool // the document has shards, or had them
}

// continues reports whether the shards may be put under a parent. Others may remove them as soon as the parent has another token.
func (w *write) continues(live *unstructured.Unstructured) bool {
	return w.shards == nil || w.base == tokenOf(live)
}

// write replaces live with the document. live is nil if there is none.
func (s *Storage) write(ctx context.Context, w *write, live *unstructured.Unstructured) error {
	large := len(w.data) > shardSize
	if large && live == nil { // shards belong to a version
		var err error
		if live, err = s.secrets.Create(ctx, newReservation(w.name, rand.Text()), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if large && w.shards == nil {
		w.base = tokenOf(live)
		if err := s.makeShards(ctx, w); err != nil {
			return err
		}
	}
	w.sharded = large || isSharded(live)
	content := map[string]any{keyDocument: base64.StdEncoding.EncodeToString(w.data)}
	if large {
		content = map[string]any{keyShards: base64.StdEncoding.EncodeToString(newManifest(w).bytes())}
	}
	next := live.DeepCopy()
	if live == nil {
		next = newParent(w.name)
	}
	next.Object["data"] = content
	annotate(next, map[string]string{annotationVersion: w.is, annotationReserved: ""})
	var err error
	if live == nil {
		_, err = s.secrets.Create(ctx, next, metav1.CreateOptions{})
	} else {
		_, err = s.secrets.Update(ctx, next, metav1.UpdateOptions{})
	}
	return err
}

// Delete implements storage.Storage.
func (s *Storage) Delete(ctx context.Context, name string, was storage.Version) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	ctx = k8s.Patiently(ctx, nil)
	for {
		live, err := s.get(ctx, name)
		switch now := versionOf(live); {
		case err != nil:
			return s.fail("delete", name, err)
		case now == storage.None:
			return nil
		case now != was:
			return storage.ErrStale
		}
		err = s.remove(ctx, live)
		switch {
		case err == nil:
			s.sweep(ctx, name, isSharded(live))
			return nil
		case !raced(err):
			return s.fail("delete", name, err)
		}
	}
}

// remove deletes a Secret as it was read.
func (s *Storage) remove(ctx context.Context, o metav1.Object) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return s.secrets.Delete(ctx, o.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
}

// List implements storage.Storage.
func (s *Storage) List(ctx context.Context, prefix string) ([]string, error) {
	found, err := s.secrets.ListMetadata(k8s.Patiently(ctx, nil), selecting(labelKind+"="+kindDocument))
	if err != nil {
		return nil, fmt.Errorf("list the documents of %s: %w", s, s.explain(err))
	}
	var names []string
	for i := range found {
		if name := found[i].Annotations[annotationName]; strings.HasPrefix(name, prefix) && versionOf(&found[i]) != storage.None {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// selecting returns options for the Secrets of this package with a label.
func selecting(label string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: label, FieldSelector: "type=" + Type}
}

// String implements storage.Storage.
func (s *Storage) String() string { return "kube://" + s.namespace }

// Close implements storage.Storage. The connections belong to the client of the cluster.
func (s *Storage) Close() error { return nil }

// get returns the Secret of a document, or nil if there is none. Another program's Secret is an error.
func (s *Storage) get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	live, err := s.secrets.Get(ctx, secretName(name), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !isDocument(live, name):
		return nil, problem.New(fmt.Sprintf("Secret %s in namespace %s does not come from hone", live.GetName(), s.namespace),
			"rename it, or choose another namespace: kube://NAMESPACE")
	}
	return live, nil
}

// fail wraps an error with the action that failed. The end of a context stays recognizable.
func (s *Storage) fail(verb, name string, err error) error {
	return fmt.Errorf("%s %s in %s: %w", verb, name, s, s.explain(err))
}
