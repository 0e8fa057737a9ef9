package imagebuild

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestRefs(t *testing.T) {
	shop := model.Registry{Host: "gcr.io/shop"}
	two := model.Registry{Host: "localhost:5000", HostFromCluster: "registry:5000"}
	single := model.Registry{Host: "1234.dkr.ecr.eu.amazonaws.com", SingleName: "dev"}
	tests := []struct {
		name           string
		ref            string
		reg            model.Registry
		local, cluster string
	}{
		{"no registry", "api", model.Registry{}, "api:t", "api:t"},
		{"no registry, with tag and host", "gcr.io/shop/api:dev", model.Registry{}, "gcr.io/shop/api:t", "gcr.io/shop/api:t"},
		{"official", "docker.io/library/nginx", model.Registry{}, "nginx:t", "nginx:t"},
		{"simple", "api", shop, "gcr.io/shop/api:t", "gcr.io/shop/api:t"},
		{"slashes", "quay.io/team/api", shop, "gcr.io/shop/quay.io_team_api:t", "gcr.io/shop/quay.io_team_api:t"},
		{"port", "reg:5000/api:dev", shop, "gcr.io/shop/reg_5000_api:t", "gcr.io/shop/reg_5000_api:t"},
		{"there already", "gcr.io/shop/api", shop, "gcr.io/shop/api:t", "gcr.io/shop/api:t"},
		{"only a similar host", "gcr.io/shopping/api", shop, "gcr.io/shop/gcr.io_shopping_api:t", "gcr.io/shop/gcr.io_shopping_api:t"},
		{"two hosts", "team/api", two, "localhost:5000/team_api:t", "registry:5000/team_api:t"},
		{"two hosts, ours in the name", "localhost:5000/team/api", two, "localhost:5000/team/api:t", "registry:5000/team/api:t"},
		{"two hosts, the cluster's in the name", "registry:5000/api", two, "localhost:5000/api:t", "registry:5000/api:t"},
		{"single name", "team/api", single, "1234.dkr.ecr.eu.amazonaws.com/dev:team_api-t", "1234.dkr.ecr.eu.amazonaws.com/dev:team_api-t"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			local, err := LocalRef(tt.ref, tt.reg, "t")
			if err != nil || local != tt.local {
				t.Errorf("local %q, %v; want %q", local, err, tt.local)
			}
			cluster, err := ClusterRef(tt.ref, tt.reg, "t")
			if err != nil || cluster != tt.cluster {
				t.Errorf("cluster %q, %v; want %q", cluster, err, tt.cluster)
			}
		})
	}
}

func TestRefErrors(t *testing.T) {
	for _, tt := range []struct {
		ref string
		reg model.Registry
	}{
		{"API", model.Registry{}}, {"", model.Registry{}}, {"api", model.Registry{Host: "https://gcr.io"}}, {"a b", model.Registry{}},
	} {
		_, err := LocalRef(tt.ref, tt.reg, "t")
		if _, ok := problem.Of(err); !ok {
			t.Errorf("%q in %q: want a problem, got %v", tt.ref, tt.reg.Host, err)
		}
	}
}

func TestSingleTagLength(t *testing.T) {
	long := strings.Repeat("a", 200)
	one, err := LocalRef(long+"/x", model.Registry{Host: "gcr.io", SingleName: "dev"}, "hone-0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	two, err := LocalRef(long+"/y", model.Registry{Host: "gcr.io", SingleName: "dev"}, "hone-0123456789abcdef")
	if err != nil || one == two {
		t.Errorf("%v: two images share %s", err, one)
	}
	if !strings.HasSuffix(one, "-hone-0123456789abcdef") {
		t.Errorf("got %s", one)
	}
}

func TestContentTag(t *testing.T) {
	tag, err := ContentTag("sha256:0123456789abcdef0000")
	if err != nil || tag != "hone-0123456789abcdef" {
		t.Errorf("got %q, %v", tag, err)
	}
	for _, bad := range []string{"", "sha256:01", "sha256:nothexnothexnothex"} {
		if tag, err := ContentTag(bad); err == nil {
			t.Errorf("%q gave %q", bad, tag)
		}
	}
	if !hasContentTag("localhost:5000/dev:api-hone-0123456789abcdef", "sha256:0123456789abcdef0000") || hasContentTag("api:1", "") {
		t.Error("content tags are not distinguished from others")
	}
}
