package buildanddeploy

import (
	"fmt"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/pkg/model"
)

// countingMapper counts the requests to it.
type countingMapper struct {
	meta.RESTMapper
	asked atomic.Int32
}

func (m *countingMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked.Add(1)
	return m.RESTMapper.RESTMapping(gk, versions...)
}

// TestOwnersAskOnceForAKind checks that the mapper is asked once for each kind: with hundreds of resources, each of which looks up
// the owners of objects, any other way takes quadratic time.
func TestOwnersAskOnceForAKind(t *testing.T) {
	mapper := &countingMapper{RESTMapper: deploytest.Mapper()}
	c := &Cluster{mapper: mapper, project: "p"}
	var declared []model.Manifest
	for i := range 300 {
		o := model.K8sObject{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint("c", i), JSON: `{}`}
		declared = append(declared, model.Manifest{Name: model.ManifestName(fmt.Sprint("r", i)), K8s: &model.K8sTarget{Objects: []model.K8sObject{o}}})
	}
	owner := c.owner(t.Context(), func() []model.Manifest { return declared }, "", "shop")
	if name, ok := owner(model.ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: "c7"}); !ok || name != "r7" {
		t.Errorf("the owner is %q, %v", name, ok)
	}
	if n := mapper.asked.Load(); n != 1 {
		t.Errorf("the mapper was asked %d times", n)
	}
}
