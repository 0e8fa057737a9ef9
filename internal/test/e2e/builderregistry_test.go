package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/pkg/model"
)

// registryImage is the environment variable for the image of a registry that scripts/registry prints.
const registryImage = "HONE_TEST_REGISTRY_IMAGE"

// newInClusterWithRegistry is newInCluster with a registry that hone keeps.
func newInClusterWithRegistry(t *testing.T) *project {
	t.Helper()
	image := os.Getenv(registryImage)
	if image == "" {
		t.Skip("the image of a registry is not there: scripts/registry makes it, and " + registryImage + " names it")
	}
	p := newInCluster(t)
	// hone asks for the digest of the base, too: an image is used again if it is known.
	p.replace("buildkitd.toml", `"docker.io"`, `"`+buildkittest.Registry+`"`)
	for range 2 { // stages
		p.replace("app/Dockerfile", "FROM busybox", "FROM "+buildkittest.Registry+"/library/busybox")
	}
	p.replace("Tiltfile", "requests={'cpu': '10m'}", "requests={'cpu': '10m'}, registry=True, registry_image='"+image+"'")
	return p
}

// ofRegistry returns the names of the objects of a kind that belong to a registry that hone keeps.
func (p *project) ofRegistry(kind schema.GroupVersionResource) []string {
	p.t.Helper()
	return p.named(kind, model.KeptRegistryName)
}

var (
	registryPods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	registryServices   = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	registryClaims     = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	registryDaemonSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
)

// TestBuilderRegistry builds in the cluster, and keeps the images there, too: the node pulls them from its relay. A preview starts no registry. An
// image that the registry has lost is built again. A volume outlives the pod. With another registry, the image moves there. The registry goes with the builder.
func TestBuilderRegistry(t *testing.T) {
	t.Parallel()
	p := newInClusterWithRegistry(t)
	if out, code := p.run("preview", "--namespace", p.namespace); code != 0 || len(p.ofRegistry(registryPods)) > 0 {
		t.Errorf("preview: %d, pods of a registry: %v\n%s", code, p.ofRegistry(registryPods), out)
	}
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	first := p.imageOfApp()
	if at := model.KeptRegistry(p.namespace, model.RegistryPod{}).HostFromCluster; !strings.HasPrefix(first, at+"/") {
		t.Errorf("the image is %s, not at %s", first, at)
	}
	if all := p.ofRegistry(registryPods); len(all) != 2 {
		t.Errorf("pods of the registry: %v", all)
	}
	r := p.ci("--timeout", "2m")
	r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
	if now := p.imageOfApp(); now != first || strings.Contains(r.stderr, "Builder: ") {
		t.Errorf("without a change, the image was %s, and is %s:\n%s", first, now, r.stderr)
	}
	p.write("app/text", "two\n")
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	second := p.imageOfApp()
	if second == first {
		t.Errorf("after an edit the image is still %s", first)
	}

	for _, pod := range p.ofRegistry(registryPods) { // with all images
		p.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
	}
	p.write("app/text", "three\n")
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	if third := p.imageOfApp(); third == second {
		t.Errorf("after another edit the image is still %s", second)
	}
	p.write("app/text", "two\n")
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	if again := p.imageOfApp(); again != second {
		t.Errorf("with the files of before, the image is %s, and was %s", again, second)
	}

	dir := t.TempDir()
	if err := os.Chown(dir, rootlessUser, rootlessUser); err != nil {
		t.Skipf("the volume cannot belong to the registry's user: %v", err)
	}
	p.write("volume.yaml", "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: $NS}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],"+
		" persistentVolumeReclaimPolicy: Retain, hostPath: {path: "+dir+"}, claimRef: {namespace: $NS, name: hone-registry-1gi}}\n")
	p.kubectl("apply", "-f", "volume.yaml")
	t.Cleanup(func() {
		p.run("down", "--builders", "--namespace", p.namespace)
		p.kubectl("delete", "-f", "volume.yaml", "--wait=false")
	})
	s := p.up()
	s.ready("app")
	p.replace("Tiltfile", "registry=True,", "registry=True, registry_storage='1Gi',")
	s.says("app .*Registry Changed")
	s.ready("app")
	p.kubectl("rollout", "restart", "deployment/"+model.KeptRegistryName)
	p.kubectl("rollout", "status", "deployment/"+model.KeptRegistryName)
	r = p.ci("--timeout", "2m")
	r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
	if strings.Contains(r.stderr, "Builder: ") {
		t.Errorf("the volume has lost the image:\n%s", r.stderr)
	}

	p.replace("Tiltfile", ", registry=True, registry_storage='1Gi', registry_image='"+os.Getenv(registryImage)+"'", "")
	s.says("(?s)Registry Changed.*Registry Changed")
	s.ready("app")
	if now, at := p.imageOfApp(), model.KeptRegistry(p.namespace, model.RegistryPod{}).HostFromCluster; strings.HasPrefix(now, at) {
		t.Errorf("with another registry, the image is still %s", now)
	}
	s.stop()

	if out, code := p.run("down", "--builders", "--namespace", p.namespace); code != 0 {
		t.Errorf("down --builders: %d\n%s", code, out)
	}
	for _, kind := range []schema.GroupVersionResource{registryPods, registryServices, registryDaemonSets, registryClaims, builderDeployments, builderConfigs} {
		if left := slices.Concat(p.ofRegistry(kind), p.ofBuilders(kind)); len(left) > 0 {
			t.Errorf("%s left: %v", kind.Resource, left)
		}
	}
}
