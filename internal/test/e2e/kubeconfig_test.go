package e2e

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// applied is a project whose objects are applied by commands and by hone, and which prints the cluster that its commands see.
const applied = `
-- Tiltfile --
print('evaluated for', str(local('kubectl config current-context', quiet=True)).strip(), '1')
k8s_custom_deploy('chart', apply_cmd='kubectl apply -o yaml -f chart.yaml', delete_cmd='kubectl delete --ignore-not-found -f chart.yaml', deps=['chart.yaml'])
k8s_yaml('own.yaml')
local_resource('shows', 'echo runs for $(kubectl config current-context) $(cat stamp)', deps=['stamp'])
-- stamp --
1
-- chart.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: chart}
data: {key: "1"}
-- own.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data: {key: "1"}
`

// TestUsersKubeconfig changes the user's kubeconfig under a session: the choice of another context changes nothing for hone and its
// commands, and hone finds a cluster that starts again at another port. Commands that name the session work on its cluster from another
// folder, too.
func TestUsersKubeconfig(t *testing.T) {
	t.Parallel()
	p := newProject(t, applied)
	w, file := newWire(t)
	p.env = []string{"KUBECONFIG=" + file}
	edit := func(change func(*clientcmdapi.Config)) {
		t.Helper()
		config, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		change(config)
		if err := clientcmd.WriteToFile(*config, file); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(c *clientcmdapi.Config) {
		c.Clusters["elsewhere"] = &clientcmdapi.Cluster{Server: fmt.Sprintf("http://127.0.0.1:%d", p.ports[2])}
		c.Contexts["elsewhere"] = &clientcmdapi.Context{Cluster: "elsewhere", AuthInfo: "nobody"}
	})
	has := func(name, value string) {
		t.Helper()
		k8stest.Eventually(t, name+" with "+value, func() error {
			m, err := p.get("", "v1", "configmaps", name)
			if err == nil && fmt.Sprint(m.Object["data"]) != fmt.Sprintf("map[key:%s]", value) {
				err = fmt.Errorf("%s has %v", name, m.Object["data"])
			}
			return err
		})
	}
	s := p.up()
	s.ready("chart", "uncategorized", "shows")
	s.says(`evaluated for hone-dev 1`)
	has("chart", "1")

	edit(func(c *clientcmdapi.Config) { c.CurrentContext = "elsewhere" })
	p.replace("chart.yaml", `"1"`, `"2"`)
	p.replace("Tiltfile", `strip(), '1'`, `strip(), '2'`)
	p.write("stamp", "2\n")
	has("chart", "2")
	s.says(`evaluated for hone-dev 2`)
	s.says(`runs for hone-dev 2`)

	w.cut()
	s.await("the outage to be noticed", func() error {
		v, err := s.view()
		if err == nil && v.ClusterError == "" {
			err = fmt.Errorf("no error yet")
		}
		return err
	})
	p.replace("own.yaml", `"1"`, `"3"`)
	p.replace("chart.yaml", `"2"`, `"3"`)
	other, moved := newWire(t)
	text, err := os.ReadFile(moved)
	if err != nil {
		t.Fatal(err)
	}
	edit(func(c *clientcmdapi.Config) {
		n, err := clientcmd.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, cluster := range n.Clusters {
			c.Clusters[name] = cluster
		}
	})
	has("own", "3")
	has("chart", "3")
	s.ready("chart", "uncategorized", "shows")
	p.says(0, []string{"get", "clusters.hone.dev", "-o", "yaml"}, regexp.QuoteMeta(other.Address()))
	elsewhere, name := newLocalProject(t, tool), p.sessions()[0].Name
	elsewhere.state, elsewhere.env = p.state, p.env
	where := regexp.QuoteMeta("in cluster hone-dev, namespace " + p.namespace + ".")
	elsewhere.says(0, []string{"preview", "--session", name}, where)
	elsewhere.says(0, []string{"drift", "--session", name}, where)
	elsewhere.says(0, []string{"gc", "--dry-run", "--session", name}, where)
	elsewhere.says(0, []string{"down", "--session", name}, where)
	p.absent("configmap/own")
	p.absent("configmap/chart")
}
