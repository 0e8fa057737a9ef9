package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestTeardownIsShown removes a resource and follows how its owners let go of it: the port and the logs first, the objects last (C7).
func TestTeardownIsShown(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	w := p.startAs(p.command("get", "resources.hone.dev/web", "-w", "-o", `jsonpath={.phase} {.metadata.finalizers}{"\n"}`, "--port", fmt.Sprint(s.port)))
	k8stest.Eventually(t, "the watch", func() error {
		if !strings.Contains(w.out.String(), "running [") {
			return fmt.Errorf("%s", w.out)
		}
		return nil
	})
	p.write("Tiltfile", "local_resource('other', 'true')")
	s.ready("other")
	p.gone("apps", "v1", "deployments", "web")
	var before []string
	steps := 0
	k8stest.Eventually(t, "the last owner", func() error {
		before, steps = nil, 0
		for line := range strings.Lines(w.out.String()) {
			list, ok := strings.CutPrefix(strings.TrimSpace(line), "tearing-down ")
			if !ok {
				continue
			}
			var now []string
			if err := json.Unmarshal([]byte(list), &now); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			if steps++; steps > 1 && slices.ContainsFunc(now, func(f string) bool { return !slices.Contains(before, f) }) {
				t.Errorf("%v was held by %v before", now, before)
			}
			before = now
		}
		if !slices.Equal(before, []string{"Collector"}) {
			return fmt.Errorf("it was last held by %v", before)
		}
		return nil
	})
	if steps < 2 || !strings.Contains(w.out.String(), "PortForwardController") {
		t.Errorf("steps:\n%s", w.out)
	}
	if _, err := fetch(p.ports[0], "/"); err == nil {
		t.Error("the port is still open")
	}
}

// TestComesBackWhileTornDown declares a resource again while its object is still being deleted: the deletion ends first, then there is
// another object, never both (C8).
func TestComesBackWhileTornDown(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a")+configs("a"))
	s := p.up()
	s.ready("group")
	s.settled()
	p.hold("a")
	old := p.live("configmap/a").GetUID()
	p.write("Tiltfile", "local_resource('other', 'true')")
	s.says(`group │ .*finalizers`)
	p.write("Tiltfile", group("a"))
	s.says(`(?s)(Successfully loaded Tiltfile.*){3}`)
	s.says(`group │ .*a.*(is being deleted|deleted|deletion)`)
	if now := p.object("", "v1", "configmaps", "a"); now.GetUID() != old || now.GetDeletionTimestamp() == nil {
		t.Errorf("there is another one already: %v", now.Object["metadata"])
	}
	p.finalizers(t.Context(), "a", "null")
	p.present([]string{"configmap/a"}, nil)
	s.ready("group")
	s.settled()
	if now := p.live("configmap/a"); now == nil || now.GetUID() == old {
		t.Error("it was not made again")
	}
}
