package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/test/declared"
)

// truth returns the checker of the session's reports.
func (s *session) truth() declared.Checker {
	return declared.Checker{Session: s.clientIn, Done: s.done, Cluster: s.p.cluster, Namespace: s.p.namespace, Written: s.p.written}
}

// asDeclared checks the condition that holds at the end of every test whose session still runs: hone's reports are true.
func (s *session) asDeclared() {
	s.p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the context of the test has ended
	defer cancel()
	if err := s.truth().Await(ctx); err != nil {
		s.p.t.Error(err)
	}
}

// TestDifferencesAreSeen shows that asDeclared sees each kind of difference: it changes containers and expectations by hand, where hone
// cannot know of it.
func TestDifferencesAreSeen(t *testing.T) {
	t.Parallel()
	real := k8stest.NewReal(t)
	p := newProjectOn(t, real, web)
	ask := p.shells(real)
	s := p.up()
	s.ready("web")
	truth := s.truth()
	p.write("site/made.html", "made")
	p.write("site/left.html", "left")
	s.serves(p.ports[0], "/", "one")
	same := func() error {
		faults, err := truth.Faults(t.Context())
		if err == nil && len(faults) > 0 {
			err = fmt.Errorf("%q", faults)
		}
		return err
	}
	s.builds("web", 2)
	s.await("the files to be in the container", same)
	pod := current(t, s, "web").Name
	for _, tc := range []struct{ breaks, mends, fault string }{
		{"echo other >/www/index.html", "echo one >/www/index.html", `/www/index.html is "other\n", not "one\n"`},
		{"rm /www/made.html", "printf made >/www/made.html", `/www/made.html is not there`},
		{"cd /www; rm index.html; ln -s made.html index.html", "cd /www; rm index.html; echo one >index.html", `/www/index.html is "link to made.html", not "one\n"`},
		{"rm /www/index.html; mkdir /www/index.html", "rmdir /www/index.html; echo one >/www/index.html", `/www/index.html is "a folder", not "one\n"`},
	} {
		_, err := ask(pod, tc.breaks)
		check(t, err)
		if faults, err := truth.Faults(t.Context()); err != nil || len(faults) != 1 || !strings.Contains(faults[0], tc.fault) {
			t.Errorf("%s: %q, %v", tc.breaks, faults, err)
		}
		_, err = ask(pod, tc.mends)
		check(t, err)
	}
	check(t, os.Remove(filepath.Join(p.dir, "site/left.html")))
	s.await("the file to leave", same)
	_, err := ask(pod, "printf left >/www/left.html")
	check(t, err)
	if faults, err := truth.Faults(t.Context()); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "/www/left.html is still there") {
		t.Errorf("%q, %v", faults, err)
	}
	_, err = ask(pod, "rm /www/left.html")
	check(t, err)

	declaration := s.hone("get", "kubernetesapply", "web", "-o", "jsonpath={.spec.yaml}")
	for _, tc := range []struct{ old, new, fault string }{
		{"terminationGracePeriodSeconds: 0", "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds"},
		{"kind: Service\n", "kind: ConfigMap\n", "configmap/web"},
		{"kind: Service\n", "kind: ''\n", "service/web is there and not declared"},
	} {
		changed := strings.ReplaceAll(declaration, tc.old, tc.new)
		if err := truth.HasObjects(t.Context(), "web", changed); err == nil || !strings.Contains(err.Error(), tc.fault) {
			t.Errorf("%q instead of %q: %v", tc.new, tc.old, err)
		}
	}
}
