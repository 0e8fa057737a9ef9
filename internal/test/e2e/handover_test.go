package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// handOverRounds returns the number of times that each object changes hands; HONE_HANDOVER_ROUNDS sets another number.
func handOverRounds(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("HONE_HANDOVER_ROUNDS"))
	if err != nil || n < 1 {
		return 4
	}
	return n
}

// handOvers are two Tiltfiles each that declare the same objects, in other resources. Going back is another hand-over.
var handOvers = []struct {
	name   string
	files  string
	states [2]string
	// declared are the objects that both declare.
	declared []string
}{
	{"a resource gets another name", workloads("web", "api"), [2]string{
		"k8s_yaml(['web.yaml', 'api.yaml'])\nk8s_resource('web', new_name='one')",
		"k8s_yaml(['web.yaml', 'api.yaml'])\nk8s_resource('web', new_name='two')",
	}, []string{"deployment/web", "deployment/api"}},
	{"an object moves to another resource", workloads("web", "api") + configs("shared"), [2]string{
		"k8s_yaml(['web.yaml', 'api.yaml', 'shared.yaml'])\nk8s_resource('web', objects=['shared:configmap'])",
		"k8s_yaml(['web.yaml', 'api.yaml', 'shared.yaml'])\nk8s_resource('api', objects=['shared:configmap'])",
	}, []string{"deployment/web", "deployment/api", "configmap/shared"}},
	{"its owner leaves and the object moves on", workloads("web", "api") + configs("shared"), [2]string{
		"k8s_yaml(['web.yaml', 'shared.yaml'])\nk8s_resource('web', objects=['shared:configmap'])",
		"k8s_yaml(['api.yaml', 'shared.yaml'])\nk8s_resource('api', objects=['shared:configmap'])",
	}, []string{"configmap/shared"}},
	{"uncategorized objects find a resource", workloads("web") + configs("a", "b"), [2]string{
		"k8s_yaml(['web.yaml', 'a.yaml', 'b.yaml'])",
		"k8s_yaml(['web.yaml', 'a.yaml', 'b.yaml'])\nk8s_resource('web', objects=['a:configmap', 'b:configmap'])",
	}, []string{"deployment/web", "configmap/a", "configmap/b"}},
	{"six groups are renamed at once", configs("c0", "c1", "c2", "c3", "c4", "c5"), [2]string{
		"for i in range(6):\n  k8s_yaml('c%d.yaml' % i)\n  k8s_resource(new_name='old%d' % i, objects=['c%d:configmap' % i])",
		"for i in range(6):\n  k8s_yaml('c%d.yaml' % i)\n  k8s_resource(new_name='new%d' % i, objects=['c%d:configmap' % i])",
	}, []string{"configmap/c0", "configmap/c1", "configmap/c2", "configmap/c3", "configmap/c4", "configmap/c5"}},
	{"a group is split", configs("c0", "c1"), [2]string{
		"k8s_yaml(['c0.yaml', 'c1.yaml'])\nk8s_resource(new_name='both', objects=['c0:configmap', 'c1:configmap'])",
		"k8s_yaml(['c0.yaml', 'c1.yaml'])\nk8s_resource(new_name='first', objects=['c0:configmap'])\nk8s_resource(new_name='second', objects=['c1:configmap'])",
	}, []string{"configmap/c0", "configmap/c1"}},
	{"owners trade objects", configs("c0", "c1"), [2]string{
		"k8s_yaml(['c0.yaml', 'c1.yaml'])\nk8s_resource(new_name='x', objects=['c0:configmap'])\nk8s_resource(new_name='y', objects=['c1:configmap'])",
		"k8s_yaml(['c0.yaml', 'c1.yaml'])\nk8s_resource(new_name='x', objects=['c1:configmap'])\nk8s_resource(new_name='y', objects=['c0:configmap'])",
	}, []string{"configmap/c0", "configmap/c1"}},
	{"the new owner waits to be triggered", configs("c0"), [2]string{
		"k8s_yaml('c0.yaml')\nk8s_resource(new_name='x', objects=['c0:configmap'])",
		"k8s_yaml('c0.yaml')\nk8s_resource(new_name='y', objects=['c0:configmap'], auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)",
	}, []string{"configmap/c0"}},
}

func workloads(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "-- %s.yaml --\n%s", n, strings.ReplaceAll(appYAML, "app}", n+"}"))
	}
	return b.String()
}

func configs(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "-- %[1]s.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %[1]s}\ndata: {key: value}\n", n)
	}
	return b.String()
}

// TestHandOver moves objects between resources, back and forth, and checks each time that every declared object is in
// the cluster and is the same object as before.
func TestHandOver(t *testing.T) {
	for _, h := range handOvers {
		t.Run(h.name, func(t *testing.T) {
			for _, way := range []struct {
				name string
				run  func(*testing.T, *project, [2]string, []string)
			}{{"while it runs", handOverLive}, {"while it does not run", handOverStopped}, {"in ci", handOverCI}} {
				t.Run(way.name, func(t *testing.T) {
					t.Parallel()
					way.run(t, newProject(t, "-- Tiltfile --\n"+h.states[0]+"\n"+h.files), h.states, h.declared)
				})
			}
		})
	}
}

// handOverLive edits the Tiltfile of a session.
func handOverLive(t *testing.T, p *project, states [2]string, declared []string) {
	s := p.up()
	p.present(declared, nil)
	s.settled()
	uids := p.uids(declared)
	for round := range handOverRounds(t) {
		p.write("Tiltfile", states[(round+1)%2])
		s.says(fmt.Sprintf(`(?s)(Successfully loaded Tiltfile.*){%d}`, round+2))
		s.settled()
		p.present(declared, uids)
	}
}

func handOverStopped(t *testing.T, p *project, states [2]string, declared []string) {
	var uids map[string]types.UID
	for round := range handOverRounds(t) {
		p.write("Tiltfile", states[round%2])
		s := p.up()
		p.present(declared, uids)
		s.settled()
		p.present(declared, uids)
		uids = p.uids(declared)
		if code := s.stop(); code != 0 && code != 130 {
			t.Fatalf("exit code %d\n%s", code, s.out)
		}
	}
}

func handOverCI(t *testing.T, p *project, states [2]string, declared []string) {
	var uids map[string]types.UID
	for round := range handOverRounds(t) {
		p.write("Tiltfile", states[round%2])
		if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		p.present(declared, uids)
		uids = p.uids(declared)
	}
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
		t.Fatalf("down: exit code %d\n%s", code, out)
	}
	for _, o := range declared {
		if p.live(o) != nil {
			t.Errorf("after hone down %s is still there", o)
		}
	}
}

// live returns an object by its kind and name; nil if it does not exist or is being deleted.
func (p *project) live(title string) *unstructured.Unstructured {
	kind, name, _ := strings.Cut(title, "/")
	group := map[string]string{"deployment": "apps"}[kind]
	u, err := p.get(group, "v1", kind+"s", name)
	if err != nil || u.GetDeletionTimestamp() != nil {
		return nil
	}
	return u
}

func (p *project) uids(titles []string) map[string]types.UID {
	out := map[string]types.UID{}
	for _, o := range titles {
		if u := p.live(o); u != nil {
			out[o] = u.GetUID()
		}
	}
	return out
}

// present waits until all objects exist, and checks that they are the same as before, as far as those are known.
func (p *project) present(titles []string, before map[string]types.UID) {
	p.t.Helper()
	k8stest.Eventually(p.t, strings.Join(titles, ", "), func() error {
		for _, o := range titles {
			if p.live(o) == nil {
				return fmt.Errorf("%s is not there", o)
			}
		}
		return nil
	})
	for o, uid := range p.uids(titles) {
		if was, ok := before[o]; ok && was != uid {
			p.t.Errorf("%s was deleted and made again", o)
		}
	}
}

// settled waits until no update or removal is running or pending.
func (s *session) settled() {
	s.p.t.Helper()
	var view api.View
	s.await("nothing to be left to do", func() error {
		c, err := s.client()
		if err != nil {
			return err
		}
		if view, err = c.View(s.p.t.Context()); err != nil {
			return err
		}
		for _, r := range view.Resources {
			young := r.UpdateStatus == "none" && !strings.HasPrefix(r.TriggerMode, "manual")
			if young || r.Phase != "running" || slices.Contains([]string{"in_progress", "pending"}, r.UpdateStatus) {
				return fmt.Errorf("%s is %s, %s", r.Name, r.Phase, r.UpdateStatus)
			}
		}
		return nil
	})
}
