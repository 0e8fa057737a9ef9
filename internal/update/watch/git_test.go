package watch

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestGitRoundTrip switches branches back and forth with the real Git: nothing has changed when the tree is at rest.
func TestGitRoundTrip(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	t.Parallel()
	r := newRig(t, newBackend())
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, f := range []string{"a", "b/c", "b/d/e", "other/f"} {
		write(t, r.path(f), f)
	}
	git("init", "-q", "-b", "one")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("checkout", "-q", "-b", "two")
	git("rm", "-q", "-r", "b")
	write(t, r.path("a"), "A")
	write(t, r.path("new/g"), "g")
	git("add", ".")
	git("commit", "-q", "-m", "two")
	git("checkout", "-q", "one")
	age(t, r.dir)
	r.set(r.spec("a", []string{"."}))

	s := NewSettler(SettlerOptions{Quiet: 1500 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() { watched <- r.w.Run(ctx, func(b Batch) { r.sink(b); s.Add(b) }) }()
	settled := make(chan []string, 10)
	go func() {
		_ = s.Run(ctx, func(b Batch) {
			for _, c := range b.Changes {
				if c.ID == target("a") {
					settled <- c.Paths
				}
			}
		})
		close(settled)
	}()
	r.hashedAll()
	git("checkout", "-q", "two")
	r.await("the other branch", func() bool { return r.got["a"]["a"] && r.got["a"]["b/d/e"] && r.got["a"]["new/g"] })
	r.take()
	git("checkout", "-q", "one")
	r.await("the first branch", func() bool { return r.got["a"]["a"] && r.got["a"]["b/d/e"] && r.got["a"]["new/g"] })
	write(t, r.path("b/d/e"), "edited")
	got := <-settled
	if d := cmp.Diff([]string{r.path("b/d/e")}, got); d != "" {
		t.Error(d)
	}
	cancel()
	do(t, <-watched)
	if rest, ok := <-settled; ok {
		t.Errorf("then %v", rest)
	}
}
