package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// kill ends a session as a reboot does, without a word.
func (s *session) kill() {
	s.p.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.p.t.Fatal(err)
	}
	<-s.done
}

// TestPickedUp kills a session that has updated a container in place. The next one builds, applies and copies nothing, and knows the log (C13). What is saved
// meanwhile goes in place, a new pod gets all that its image lacks, and a change that needs an image gets one.
func TestPickedUp(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.ownContent()
	s := p.up()
	s.serves(p.ports[0], "/", "one")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.await("the log to be kept", func() error { // within a second
		files, err := filepath.Glob(filepath.Join(p.state, "hone", "past", "*.log"))
		if err != nil || len(files) != 1 {
			return fmt.Errorf("there are %d files", len(files))
		}
		text, err := os.ReadFile(files[0])
		if err == nil && !strings.Contains(string(text), "1 File Changed") {
			err = fmt.Errorf("it is\n%s", text)
		}
		return err
	})
	pod, generation := current(t, s, "web").Name, p.object("apps", "v1", "deployments", "web").GetGeneration()
	s.kill()
	keeps := func(s *session, updates int, want string) {
		t.Helper()
		s.says(`web:hone-\w+ was built by an earlier session`)
		s.serves(p.ports[0], "/", want)
		s.becomes("web", "ready, with the program in its container", func(r api.Resource) bool {
			return ready(r) && len(r.Synclets) == 1 && r.Synclets[0].State == "ready"
		})
		r, err := s.resource("web")
		if err != nil {
			t.Fatal(err)
		}
		if len(r.BuildHistory) != updates {
			t.Errorf("%d updates, want %d: %+v", len(r.BuildHistory), updates, r.BuildHistory)
		}
		if n := len(r.EarlierBuilds); n == 0 || r.EarlierBuilds[0].FinishedAt.IsZero() || r.EarlierBuilds[0].FinishedAt.After(r.BuildHistory[updates-1].StartedAt) {
			t.Errorf("the updates of earlier sessions are %+v", r.EarlierBuilds)
		}
		if now := current(t, s, "web").Name; now != pod {
			t.Errorf("pod %s took the place of %s", now, pod)
		}
		if now := p.object("apps", "v1", "deployments", "web").GetGeneration(); now != generation {
			t.Errorf("the Deployment was applied: generation %d after %d", now, generation)
		}
	}

	s = p.up()
	keeps(s, 1, "two")
	if out := s.hone("logs", "web", "--follow=false"); !strings.Contains(out, "earlier session, until") || !strings.Contains(out, "1 File Changed: [site/index.html]") {
		t.Errorf("the log does not go on:\n%s", out)
	}
	if strings.Contains(s.out.String(), "earlier session, until") {
		t.Errorf("the session prints the log of the one before:\n%s", s.out)
	}
	s.asDeclared()
	s.kill()

	p.write("site/index.html", "three")
	p.write("site/new.html", "new")
	s = p.up()
	s.serves(p.ports[0], "/new.html", "new")
	keeps(s, 2, "three")
	s.replacePod("web")
	s.serves(p.ports[0], "/", "three")
	s.serves(p.ports[0], "/new.html", "new")
	s.asDeclared()
	s.kill()

	p.write("conf/settings", "a=2\n")
	s = p.up()
	s.ready("web")
	if strings.Contains(s.out.String(), "was built by an earlier session") {
		t.Error("the image lacks a file that cannot be copied")
	}
	s.serves(p.ports[0], "/", "three")
	s.asDeclared()
	s.stop()
}
