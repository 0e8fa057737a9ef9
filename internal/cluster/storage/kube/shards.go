package kube

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
)

// shardSize is the most data in one Secret: the API server refuses more than 1 MiB.
const shardSize = 900 << 10

// manifest names the Secrets of a large document. Its writer makes them before the manifest, and nothing changes them: who replaces the
// manifest replaces the document as a whole.
type manifest struct {
	Shards []string `json:"shards"`
	SHA256 string   `json:"sha256"`
}

func newManifest(w *write) manifest {
	sum := sha256.Sum256(w.data)
	return manifest{Shards: w.shards, SHA256: hex.EncodeToString(sum[:])}
}

func (m manifest) bytes() []byte {
	text, _ := json.Marshal(m) // of texts
	return text
}

// errDamaged says that shards and manifest do not belong together.
var errDamaged = errors.New("a part of the document is missing")

// makeShards writes the data of a document into Secrets of their own. One that exists was written by an earlier try.
func (s *Storage) makeShards(ctx context.Context, w *write) error {
	parent := secretName(w.name)
	var names []string
	for part := range slices.Chunk(w.data, shardSize) {
		shard := newSecret(fmt.Sprintf("%s.%s.%d", parent, strings.ToLower(w.is), len(names)), kindShard)
		shard.SetLabels(map[string]string{labelKind: kindShard, labelOf: parent})
		annotate(shard, map[string]string{annotationBase: w.base})
		shard.Object["immutable"] = true
		shard.Object["data"] = map[string]any{keyShard: base64.StdEncoding.EncodeToString(part)}
		if _, err := s.secrets.Create(ctx, shard, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		names = append(names, shard.GetName())
	}
	w.shards = names
	return nil
}

// data returns the data of a document from its Secret, and from its shards.
func (s *Storage) data(ctx context.Context, live *unstructured.Unstructured) ([]byte, error) {
	if !isSharded(live) {
		return value(live, keyDocument)
	}
	text, err := value(live, keyShards)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	var all []byte
	for _, name := range m.Shards {
		shard, err := s.secrets.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, damaged(name)
		}
		if err != nil {
			return nil, err
		}
		part, err := value(shard, keyShard)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	if sum := sha256.Sum256(all); hex.EncodeToString(sum[:]) != m.SHA256 {
		return nil, damaged(live.GetName())
	}
	return all, nil
}

func damaged(secret string) error {
	return problem.Wrap(errDamaged, "the data in Secret "+secret+" is damaged", "restore the Secrets of the type "+Type+" from a backup")
}

// value returns a value of a Secret.
func value(u *unstructured.Unstructured, key string) ([]byte, error) {
	text, found, _ := unstructured.NestedString(u.Object, "data", key)
	if !found {
		return nil, damaged(u.GetName())
	}
	return base64.StdEncoding.DecodeString(text)
}

// sweep deletes shards of a document that nothing needs: the former ones, and those of writers that crashed or lost. It is no error if
// it cannot, as the next one tries again.
//
// A shard was made for one version of the document's Secret, and its writer can only replace that version. Versions never come back.
// So a shard that is listed now, but neither named by the Secret later nor made for its version, stays without a use. No clock is
// needed to tell it from the shard of a writer that is still at work.
func (s *Storage) sweep(ctx context.Context, name string, sharded bool) {
	if !sharded {
		return
	}
	shards, err := s.secrets.ListMetadata(ctx, selecting(labelKind+"="+kindShard+","+labelOf+"="+secretName(name)))
	if err != nil || len(shards) == 0 {
		return
	}
	live, err := s.get(ctx, name)
	if err != nil {
		return
	}
	var needed manifest
	if live != nil && isSharded(live) {
		text, err := value(live, keyShards)
		if err != nil || json.Unmarshal(text, &needed) != nil {
			return
		}
	}
	for i := range shards {
		if !slices.Contains(needed.Shards, shards[i].Name) && (live == nil || shards[i].Annotations[annotationBase] != tokenOf(live)) {
			_ = s.remove(ctx, &shards[i])
		}
	}
}
