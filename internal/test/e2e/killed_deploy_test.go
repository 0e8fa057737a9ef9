package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// killedRounds returns how many operations TestKilledDeploys kills.
func killedRounds() int {
	if testing.Short() {
		return 12
	}
	return 36
}

// TestKilledDeploys edits the Tiltfile at random, and kills an operation at one of the requests that write to the cluster: before
// the server gets the request, or after the server has carried it out. In every case the next ci reaches the declared state, and
// down leaves no object of it (K16). buildanddeploy/TestInvariants checks the invariants of a single operation.
func TestKilledDeploys(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+configs("o0", "o1", "o2", "o3", "o4"))
	g, kubeconfig := newGate(t)
	p.env = append(p.env, "KUBECONFIG="+kubeconfig)
	foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign"}}}
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	killed := 0
	rounds := killedRounds()
	for round := range rounds {
		declared := p.declareAtRandom(random, round)
		in := []string{"--namespace", p.namespace}
		operation := [][]string{append([]string{"ci", "--port", "0", "--prune", "all"}, in...), append([]string{"deploy", "--yes", "--port", "0", "--prune", "all"}, in...),
			{"down"}}[random.IntN(3)]
		s := p.startAs(p.command(operation...))
		at, after := 1+random.IntN(6), random.IntN(2) == 0
		due := func(r *http.Request) bool { // from the kill on
			dryRun := r.URL.Query().Get("dryRun") != ""
			if r.Method != http.MethodPatch && r.Method != http.MethodDelete || dryRun || !strings.Contains(r.URL.Path, p.namespace) {
				return false
			}
			if at--; at == 0 {
				killed++
				_ = s.cmd.Process.Kill()
			}
			return at <= 0
		}
		if after {
			g.lose(due)
		} else {
			g.refuse(func(r *http.Request) refusal {
				if due(r) {
					return refusal{status: http.StatusServiceUnavailable}
				}
				return refusal{}
			})
		}
		<-s.done
		g.refuse(nil)
		g.lose(nil)
		if random.IntN(4) == 0 {
			p.says(0, []string{"down"})
			p.has(round, nil)
			continue
		}
		p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0", "--prune", "all"}, "SUCCESS")
		p.has(round, declared)
	}
	if killed < rounds/4 {
		t.Errorf("only %d of %d deploys wrote enough to be killed", killed, rounds)
	}
	p.says(0, []string{"down"})
	p.has(rounds, nil)
}

// declareAtRandom writes a Tiltfile that declares some of the ConfigMaps, each with one of the resources and another value, and returns
// their values.
func (p *project) declareAtRandom(random *rand.Rand, round int) map[string]string {
	groups, declared := map[string][]string{}, map[string]string{}
	for i := range 5 {
		if random.IntN(4) == 0 {
			continue
		}
		name, of := fmt.Sprintf("o%d", i), fmt.Sprintf("r%d", random.IntN(3))
		groups[of] = append(groups[of], name)
		declared[name] = fmt.Sprint(round - random.IntN(2))
		p.write(name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+"}\ndata: {key: '"+declared[name]+"'}\n")
	}
	var tiltfile strings.Builder
	for _, of := range slices.Sorted(maps.Keys(groups)) {
		tiltfile.WriteString(strings.Replace(group(groups[of]...), "'group'", "'"+of+"'", 1))
	}
	p.write("Tiltfile", tiltfile.String())
	return declared
}

// has checks the values of all ConfigMaps that are not Kubernetes' own.
func (p *project) has(round int, want map[string]string) {
	p.t.Helper()
	list, err := p.dyn.Resource(configMaps).Namespace(p.namespace).List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	got, all := map[string]string{}, map[string]string{"foreign": ""}
	maps.Copy(all, want)
	for _, u := range list.Items {
		if u.GetName() != "kube-root-ca.crt" {
			got[u.GetName()], _, _ = unstructured.NestedString(u.Object, "data", "key")
		}
	}
	if diff := cmp.Diff(all, got); diff != "" {
		p.t.Errorf("round %d (-want +got):\n%s", round, diff)
	}
}
