package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Type is the type of the Secrets. The API server never changes the type of a Secret.
const Type = "hone.dev/ledger"

// Labels, annotations and keys of the Secrets.
const (
	labelKind    = "hone.dev/ledger"
	kindDocument = "document"
	kindShard    = "shard"
	// labelOf names the Secret of the document that a shard belongs to.
	labelOf = "hone.dev/ledger-of"

	annotationName    = "hone.dev/document"
	annotationVersion = "hone.dev/version"
	// annotationReserved marks a Secret without a document: the writer of a large one has begun.
	annotationReserved = "hone.dev/reserved"
	// annotationBase is the version of the document that the writer of a shard replaces.
	annotationBase = "hone.dev/replaces"

	keyDocument = "document"
	keyShards   = "shards"
	keyShard    = "shard"
)

// nameTail bounds the part of a document's name that its Secret's name shows; the Secret's name is also the value of a label.
const nameTail = 40

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// secretName returns the name of the Secret of a document: the end of the document's name for people, and a hash of the whole one.
func secretName(name string) string {
	tail := strings.ToLower(name[max(0, len(name)-nameTail):])
	sum := sha256.Sum256([]byte(name))
	return "hone-" + strings.Trim(notInNames.ReplaceAllString(tail, "-"), "-") + "-" + hex.EncodeToString(sum[:6])
}

func newSecret(name, kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": Type}}
	u.SetName(name)
	u.SetLabels(map[string]string{labelKind: kind})
	return u
}

// newParent returns the Secret of a document, without data.
func newParent(name string) *unstructured.Unstructured {
	u := newSecret(secretName(name), kindDocument)
	annotate(u, map[string]string{annotationName: name})
	return u
}

// newReservation returns a Secret that has no document yet. For readers, there is none.
func newReservation(name, token string) *unstructured.Unstructured {
	u := newParent(name)
	annotate(u, map[string]string{annotationVersion: token, annotationReserved: "true"})
	return u
}

// annotate sets annotations, and removes those that are empty.
func annotate(o metav1.Object, values map[string]string) {
	all := map[string]string{}
	maps.Copy(all, o.GetAnnotations())
	maps.Copy(all, values)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	o.SetAnnotations(all)
}

// isDocument reports whether a Secret has the document of a name.
func isDocument(u *unstructured.Unstructured, name string) bool {
	return u.Object["type"] == Type && u.GetLabels()[labelKind] == kindDocument && u.GetAnnotations()[annotationName] == name
}

// tokenOf returns the token of a state of a document's Secret; it is empty if there is no Secret.
func tokenOf(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return u.GetAnnotations()[annotationVersion]
}

// versionOf returns the version of the document in a Secret, which may be nil.
func versionOf(o metav1.Object) storage.Version {
	if u, ok := o.(*unstructured.Unstructured); ok && u == nil {
		return storage.None
	}
	if o.GetAnnotations()[annotationReserved] != "" {
		return storage.None
	}
	return storage.Version(o.GetAnnotations()[annotationVersion])
}

// isSharded reports whether the data of a document lies in other Secrets.
func isSharded(u *unstructured.Unstructured) bool {
	if u == nil {
		return false
	}
	_, sharded, _ := unstructured.NestedString(u.Object, "data", keyShards)
	return sharded
}
