//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/witness"
	"github.com/hone-dev/hone/pkg/api"
)

// settling runs in two replicas. Its process reads text once, at its start, and ends if that says so. The other files are only copied,
// and a change of conf needs a new image.
var settling = `
-- Tiltfile --
docker_build('settling', '.', only=['app', 'conf'], live_update=[fall_back_on('conf'), sync('app', '/app'), restart_process(trigger='app/text')])
k8s_yaml('pod.yaml')
-- Dockerfile --
FROM busybox
COPY app /app
COPY conf /conf
CMD ["sh", "/app/main.sh"]
-- app/main.sh --
cat /app/text >/started
if grep -q broken /app/text; then
  echo "/app/main.sh: line 3: cannot go on" >&2
  exit 3
fi
exec sleep 1000000
-- app/text --
0
-- app/files/first --
0
-- conf/settings --
0
-- pod.yaml --
` + strings.Replace(deployment("settling", `
terminationGracePeriodSeconds: 0
containers:
- {name: main, image: settling}
`), "spec:\n", "spec:\n  replicas: 2\n", 1)

// observer looks into the containers of an app on this machine, beside hone.
type observer struct {
	*project
	app string
}

// differs returns the first difference of a running container from the source tree; nil if there is none. A pod that has been told to
// end does not count, and one that took its place may not run yet.
func (o observer) differs(ctx context.Context) error {
	all, err := o.pods(o.app)
	if err != nil {
		return fmt.Errorf("look at the pods: %w", err)
	}
	want, looked := tree(filepath.Join(o.dir, "app")), 0
	for _, p := range all {
		for _, c := range p.Status.ContainerStatuses {
			if c.State.Running == nil {
				continue
			}
			_, id, _ := strings.Cut(c.ContainerID, "://")
			root, err := witness.Root(id)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			if has := tree(filepath.Join(root, "app")); !maps.Equal(has, want) {
				return fmt.Errorf("%s has %v, not %v", p.Name, has, want)
			}
			if err := o.started(ctx, root, want["text"]); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			looked++
		}
	}
	if looked == 0 {
		return errors.New("no container runs")
	}
	return nil
}

// started waits until the process of a container has read its text. A process from before the text never does.
func (o observer) started(ctx context.Context, root, text string) error {
	return harness.Await(ctx, 5*time.Second, "the process to have read the newest text", func() error {
		got, err := os.ReadFile(filepath.Join(root, "started"))
		if err == nil && string(got) != text {
			err = fmt.Errorf("it has read %q", got)
		}
		return err
	})
}

// tree returns the contents of the files below a folder, by path. Names that begin with a dot are staged files.
func tree(dir string) map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return nil //nolint:nilerr // a file that is gone is missing from the tree
		}
		if text, err := os.ReadFile(path); err == nil {
			rel, _ := filepath.Rel(dir, path)
			files[rel] = string(text)
		}
		return nil
	})
	return files
}

// saver saves at random.
type saver struct {
	observer
	wire   *wire
	random *rand.Rand
	ways   []way
	n      int
}

func (s *saver) text() string { s.n++; return fmt.Sprintln(s.n) }

// way is a way to save, with its weight.
type way struct {
	name   string
	weight int
	do     func(*saver)
}

// saves are the ways to save.
var saves = []way{
	{"a file", 30, func(s *saver) { s.write("app/files/first", s.text()) }},
	{"the text", 20, func(s *saver) { s.write("app/text", s.text()) }},
	{"many files", 10, func(s *saver) {
		for i := range 20 {
			s.write(fmt.Sprintf("app/files/many%d", i), s.text())
		}
	}},
	{"in place, in two steps", 10, func(s *saver) {
		f, err := os.OpenFile(filepath.Join(s.dir, "app/files/first"), os.O_WRONLY|os.O_TRUNC, 0)
		check(s.t, err)
		_, err = f.WriteString("half ")
		check(s.t, err)
		_, err = f.WriteString(s.text())
		check(s.t, errors.Join(err, f.Close()))
	}},
	{"a rename", 10, func(s *saver) {
		s.write("app/files/old", s.text())
		check(s.t, os.Rename(filepath.Join(s.dir, "app/files/old"), filepath.Join(s.dir, fmt.Sprintf("app/files/new%d", s.n%7))))
	}},
	{"a deletion", 10, func(s *saver) {
		s.write("app/files/gone", s.text())
		check(s.t, os.Remove(filepath.Join(s.dir, "app/files/gone")))
		_ = os.Remove(filepath.Join(s.dir, fmt.Sprintf("app/files/many%d", s.n%20)))
	}},
	{"a new image", 1, func(s *saver) { s.write("conf/settings", s.text()) }},
	{"while an image is built", 1, func(s *saver) {
		s.write("conf/settings", s.text())
		time.Sleep(time.Duration(s.random.IntN(1000)) * time.Millisecond) // at a random moment of the build
		s.write("app/text", s.text())
	}},
	{"while a pod is replaced", 3, func(s *saver) {
		pods, err := s.pods("settling")
		check(s.t, err)
		s.kubectl("delete", "pod", pods[s.random.IntN(len(pods))].Name, "--wait=false")
		time.Sleep(time.Duration(s.random.IntN(1000)) * time.Millisecond) // at a random moment of the replacement
		s.write("app/files/first", s.text())
	}},
	{"while a container is restarted", 3, func(s *saver) {
		pods, err := s.pods("settling")
		check(s.t, err)
		s.write("app/files/first", s.text())
		for _, p := range pods {
			c := p.Status.ContainerStatuses[0]
			if c.RestartCount == 0 { // Kubernetes makes the next restarts wait
				_, id, _ := strings.Cut(c.ContainerID, "://")
				check(s.t, s.kill(id))
				return
			}
		}
		s.kubectl("delete", "pod", pods[0].Name, "--wait=false")
	}},
	{"while the connection is cut", 3, func(s *saver) {
		s.wire.cut()
		s.write("app/text", s.text())
		time.AfterFunc(time.Duration(s.random.IntN(500))*time.Millisecond, s.wire.join)
	}},
}

// kill ends the first process of a container, and with it the container.
func (s *saver) kill(id string) error {
	root, err := witness.Root(id)
	if err != nil {
		return nil //nolint:nilerr // it does not run at the moment
	}
	var pid int
	if _, err := fmt.Sscanf(root, "/proc/%d/root", &pid); err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	return harness.Await(s.t.Context(), patience, "the process to end, with all others of the container", func() error {
		if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
			return errors.New("it is still there")
		}
		return nil
	})
}

// save saves at random, and returns the way.
func (s *saver) save() string {
	all := []int{}
	for i, way := range s.ways {
		all = append(all, slices.Repeat([]int{i}, way.weight)...)
	}
	way := s.ways[all[s.random.IntN(len(all))]]
	way.do(s)
	return way.name
}

// TestSettle saves at random and asks at once whether it is live: the answer is never yes while a container has other bytes, or a
// process that is older than them.
func TestSettle(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if testing.Short() {
		rounds = 60
	}
	settles(t, rounds, saves)
}

// TestSettleByExec does so where no program of hone is in the containers, which end while hone asks.
func TestSettleByExec(t *testing.T) {
	t.Parallel()
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	ways := slices.DeleteFunc(slices.Clone(saves), func(w way) bool {
		return !slices.Contains([]string{"a file", "a deletion", "while a pod is replaced", "while a container is restarted"}, w.name)
	})
	for i := range ways {
		ways[i].weight = 1
	}
	settles(t, rounds, ways, "--update-mode", "exec")
}

// settles saves in some ways, in a session with some flags, and asks after each.
func settles(t *testing.T, rounds int, ways []way, flags ...string) {
	p := newProject(t, settling)
	w, kubeconfig := newWire(t)
	p.env = append(p.env, "KUBECONFIG="+kubeconfig)
	up := p.up(flags...)
	up.ready("settling")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &saver{observer: observer{p, "settling"}, wire: w, random: rand.New(rand.NewPCG(seed, 1)), ways: ways}
	hone, err := up.client()
	check(t, err)
	var none api.Milliseconds
	question := client.Settling{Request: api.SettleRequest{WindowMs: &none}, Timeout: patience}
	waits := map[string][]time.Duration{}
	for i := range rounds {
		way := s.save()
		began := time.Now()
		rep, err := hone.SettleReport(t.Context(), question)
		check(t, err)
		for rep.Result == api.SettleUnknown && way == "while the connection is cut" { // it says so; it has to be asked again
			if time.Since(began) > patience {
				break
			}
			rep, err = hone.SettleReport(t.Context(), question)
			check(t, err)
		}
		waits[way] = append(waits[way], time.Since(began))
		if rep.Result != api.SettleLive {
			t.Fatalf("save %d, %s: %+v", i, way, rep)
		}
		if err := s.differs(t.Context()); err != nil {
			t.Fatalf("save %d, %s, is live after %s: %v\n%+v", i, way, time.Since(began), err, rep)
		}
	}
	for way, all := range waits {
		slices.Sort(all)
		t.Logf("%s: %d saves, live after %s, at most %s", way, len(all), all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
	}
}

// TestSettleTellsBrokenFromMended breaks the code and mends it, again and again: hone settle ends with 1, with the place, and with 0.
func TestSettleTellsBrokenFromMended(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	p := newProject(t, settling)
	up := p.up()
	up.ready("settling")
	settle := func(want int, says ...string) {
		t.Helper()
		out, code := p.run("settle", "--port", fmt.Sprint(up.port))
		if code != want {
			t.Fatalf("exit code %d, want %d\n%s", code, want, out)
		}
		for _, text := range says {
			if !strings.Contains(out, text) {
				t.Fatalf("it does not say %q:\n%s", text, out)
			}
		}
	}
	for i := range rounds {
		p.write("app/text", fmt.Sprintln("broken", i))
		settle(1, "at: app/main.sh:3", "cannot go on")
		p.write("app/text", fmt.Sprintln("mended", i))
		settle(0, "process restarted in 2 containers")
	}
}
