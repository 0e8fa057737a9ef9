package deploy

import (
	"context"
	"encoding/base64"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// Secrets returns the values that the Secrets among recorded objects have in the cluster, for messages that must not show them although
// nobody has evaluated the Tiltfile. Those that the user may not read are left out. Each request is bounded by timeout.
func (a *Applier) Secrets(ctx context.Context, records []ledger.Record, timeout time.Duration) (out []model.Secret, err error) {
	for _, r := range records {
		if r.Group != "" || r.Kind != "Secret" {
			continue
		}
		_, live, err := a.read(ctx, r.ObjectID, timeout)
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
		if err != nil || live == nil {
			continue
		}
		model.EachSecretValue(live.Object, func(_ []string, values map[string]any, key string) {
			value := text(values, key)
			out = append(out, model.Secret{Name: r.Name, Key: key, Value: value})
			if plain, err := base64.StdEncoding.DecodeString(value); err == nil {
				out = append(out, model.Secret{Name: r.Name, Key: key, Value: string(plain)})
			}
		})
	}
	return out, nil
}
