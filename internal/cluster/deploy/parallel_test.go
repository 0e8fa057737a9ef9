package deploy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestParallelism applies 30 independent objects to an API server that answers after 200 ms: ten at a time take at most a fifth of the
// time that one at a time takes, and the result is in the same order (K13).
func TestParallelism(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apply := func(n int) (applied []model.AppliedObject, took time.Duration) {
			c := fakeCluster(t)
			c.dyn.(*deploytest.Server).Delay = 200 * time.Millisecond
			var all []string
			for i := range 30 {
				all = append(all, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%02d}, data: {key: value}}", i))
			}
			objects := c.inject(t, strings.Join(all, "\n---\n"))
			began := time.Now()
			applied, _, err := c.apply(t, objects, WithParallelism(n))
			if err != nil {
				t.Fatal(err)
			}
			return applied, time.Since(began)
		}
		one, slow := apply(1)
		ten, quick := apply(10)
		if 5*quick > slow {
			t.Errorf("ten at a time take %s, one at a time %s", quick, slow)
		}
		for _, list := range [][]model.AppliedObject{one, ten} {
			for i := range list {
				list[i].UID = ""
			}
		}
		if diff := cmp.Diff(one, ten); diff != "" || len(ten) != 30 {
			t.Errorf("applied (-one +ten at a time):\n%s", diff)
		}
	})
}
