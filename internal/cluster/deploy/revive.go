package deploy

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// Revive returns the declaration of an object in an earlier revision. Where the revision has only the digest of a value of a Secret, the
// object keeps the value that it has in the cluster: kept says so. It is a problem if it has none there.
func (a *Applier) Revive(ctx context.Context, m *Memory, d ledger.Declared, timeout time.Duration) (u *unstructured.Unstructured, kept bool, err error) {
	u = &unstructured.Unstructured{}
	if d.Object == nil || u.UnmarshalJSON(d.Object) != nil {
		return nil, false, problem.New(fmt.Sprintf("the declaration of %s at that time is not recorded", title(d.Record.ObjectID)),
			"deploy the Tiltfile of that time instead: hone history has its commit")
	}
	if !isSecret(u) {
		return u, false, nil
	}
	_, live, err := a.read(ctx, d.Record.ObjectID, timeout)
	if err != nil {
		return nil, false, err
	}
	m.undigest(u, []*unstructured.Unstructured{live})
	if live == nil {
		live = &unstructured.Unstructured{Object: map[string]any{}}
	}
	var lost []string
	model.EachSecretValue(u.Object, func(path []string, values map[string]any, name string) {
		if !isDigest(values[name]) {
			return
		}
		has, ok, _ := unstructured.NestedFieldCopy(live.Object, append(slices.Clone(path), name)...)
		if !ok {
			lost = append(lost, name)
			return
		}
		values[name], kept = has, true
	})
	if len(lost) > 0 {
		return nil, false, problem.New(fmt.Sprintf("the values of %s at that time are not recorded: %s", title(d.Record.ObjectID), strings.Join(lost, ", ")),
			"deploy the Tiltfile of that time instead; from now on, hone keeps them if you give it a key: "+ledger.KeyVariable).See("state")
	}
	return u, kept, nil
}

// isDigest reports whether a digest stands in place of a value of a Secret.
func isDigest(value any) bool {
	decoded, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
	return err == nil && strings.HasPrefix(string(decoded), digestMark)
}
