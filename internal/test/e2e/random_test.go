package e2e

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// wild is a project to which random things happen.
type wild struct {
	*project
	s      *session
	ask    func(pod, script string) (string, error)
	random *rand.Rand
	did    []string // since the last rest

	saves, stamp, arg int
	broken, manual    bool
}

// declare writes the Tiltfile and the Dockerfile.
func (w *wild) declare() {
	mode, breaks := "AUTO", ""
	if w.manual {
		mode = "MANUAL"
	}
	if w.broken {
		breaks = "RUN exit 3\n"
	}
	w.write("Tiltfile", fmt.Sprintf(`docker_build('web', '.', dockerfile='web.Dockerfile', only=['site', 'conf'], build_args={'ARG': '%d'},
    live_update=[fall_back_on('conf'), sync('site', '/www')])
k8s_yaml('web.yaml')
k8s_resource('web', port_forwards='$PORT0:80', trigger_mode=TRIGGER_MODE_%s)
`, w.arg, mode))
	w.write("web.Dockerfile", fmt.Sprintf(`FROM busybox
ARG ARG
RUN echo %d $ARG >/stamp
COPY site /www
COPY conf /conf
%sCMD ["sh", "-c", "httpd -h /www; while [ ! -e /die ]; do sleep 0.1; done; exit 3"]
`, w.stamp, breaks))
}

// happening is a thing that happens, more or less often.
type happening struct {
	name   string
	weight int
	do     func(*wild)
}

var happenings = []happening{
	{"save", 6, func(w *wild) {
		w.saves++
		w.write("site/index.html", fmt.Sprint(w.saves))
	}},
	{"change kinds", 4, func(w *wild) { w.change(w.random) }},
	{"edit the Dockerfile", 2, func(w *wild) { w.stamp++; w.declare() }},
	{"edit the arguments", 1, func(w *wild) { w.arg++; w.declare() }},
	{"break or mend the build", 2, func(w *wild) { w.broken = !w.broken; w.declare() }},
	{"edit a file that needs an image", 1, func(w *wild) {
		w.saves++
		w.write("conf/settings", fmt.Sprint(w.saves))
	}},
	{"edit it back", 1, func(w *wild) { w.write("conf/settings", "a=1\n") }},
	{"delete the pod", 2, func(w *wild) {
		w.kubectl("delete", "pod", "--selector=app=web", "--wait=false")
	}},
	{"end the container", 2, func(w *wild) {
		for _, p := range w.pods() {
			_, _ = w.ask(p, "touch /die") // it may have ended
		}
	}},
	{"pause", 1, func(w *wild) { w.run("pause", "--port", fmt.Sprint(w.s.port)) }},
	{"resume", 1, func(w *wild) { w.run("resume", "--port", fmt.Sprint(w.s.port)) }},
	{"manual or automatic", 1, func(w *wild) { w.manual = !w.manual; w.declare() }},
	{"trigger", 1, func(w *wild) { w.run("trigger", "web", "--port", fmt.Sprint(w.s.port)) }},
	{"kill hone", 1, func(w *wild) {
		check(w.t, w.s.cmd.Process.Kill())
		<-w.s.done
		if w.random.IntN(2) == 0 {
			w.change(w.random)
		}
		w.begin()
		w.s.await("the session", func() error { _, err := w.s.resource("web"); return err })
	}},
}

// begin starts a session that updates containers in one of the ways.
func (w *wild) begin() {
	w.s = w.up("--update-mode", []string{"auto", "exec"}[w.random.IntN(2)])
}

func (w *wild) pods() (names []string) {
	r, err := w.s.resource("web")
	if err != nil {
		return nil
	}
	for _, p := range r.Pods {
		if p.Current {
			names = append(names, p.Name)
		}
	}
	return names
}

// step lets one thing happen, and then nothing for a moment.
func (w *wild) step() {
	var all []happening
	for _, h := range happenings {
		all = append(all, slices.Repeat([]happening{h}, h.weight)...)
	}
	h := all[w.random.IntN(len(all))]
	w.did = append(w.did, h.name)
	h.do(w)
	time.Sleep(time.Duration(w.random.IntN(3)) * 300 * time.Millisecond) // at a random moment
}

// rest lets all changes through, and waits until the container has the files of this machine, and the image its arguments.
func (w *wild) rest() {
	w.t.Helper()
	w.broken, w.manual = false, false
	w.declare()
	w.run("resume", "--port", fmt.Sprint(w.s.port))
	w.s.await("the container to have the tree after "+strings.Join(w.did, ", "), func() error {
		r, err := w.s.resource("web")
		if err != nil {
			return err
		}
		ready := slices.DeleteFunc(slices.Clone(r.Pods), func(p api.Pod) bool { return !p.Current || !p.Ready })
		if r.UpdateStatus != "ok" || r.RuntimeStatus != "ok" || len(ready) != 1 {
			return fmt.Errorf("web is %s, %s: %s %s", r.UpdateStatus, r.RuntimeStatus, r.RuntimeText, r.RuntimeError)
		}
		got, err := w.ask(ready[0].Name, `cat /stamp; cd /www && find . | while IFS= read -r p; do
			if [ -L "$p" ]; then echo "$p -> $(readlink "$p")"; elif [ -d "$p" ]; then echo "$p/"; else echo "$p $(cat "$p")"; fi; done`)
		stamp, tree, _ := strings.Cut(got, "\n")
		lines := strings.Split(tree, "\n")
		slices.Sort(lines)
		if want := fmt.Sprintf("%d %d", w.stamp, w.arg); err == nil && stamp != want {
			err = fmt.Errorf("the image is %s, not %s", stamp, want)
		}
		if want := describe(w.t, filepath.Join(w.dir, "site")); err == nil && !slices.Equal(lines, want) {
			err = fmt.Errorf("the container has\n%s\nnot\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
		return err
	})
	w.did = nil
}

// TestRandomThings saves, breaks, deletes, kills and holds at random. Whenever a row says ok, the container has the files of this
// machine; once nothing holds or breaks any more, the row says ok.
func TestRandomThings(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	cluster := k8stest.NewReal(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := &wild{project: newProjectOn(t, cluster, web), random: rand.New(rand.NewPCG(seed, 1))}
	w.ask = w.shells(cluster)
	w.write("site/real/f", "real")
	w.write("site/real/sub/g", "real")
	w.declare()
	w.begin()
	w.s.serves(w.ports[0], "/", "one")
	for range rounds {
		for range 3 {
			for range 1 + w.random.IntN(4) {
				w.step()
			}
			if w.s.asDeclared(); t.Failed() {
				t.Fatalf("after %s", strings.Join(w.did, ", "))
			}
		}
		w.rest()
	}
}
