package extension

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// stall is the time without output, not even progress, after which git counts as stuck.
	stall = 15 * time.Second
	// fetchLimit is the time limit of a whole fetch.
	fetchLimit = 3 * time.Minute
	// grace is the time that git has to remove its lock files when it is stopped.
	grace = 2 * time.Second
)

var (
	errSilent = errors.New("git made no progress")
	errSlow   = errors.New("it takes too long")
	// commitText matches a full commit, commitPrefix a possible abbreviation of one.
	commitText   = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	commitPrefix = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// clone puts the files of a repository into an empty folder and returns their commit.
func (s *Store) clone(ctx context.Context, r Repo, dir string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, orElse(s.limit, fetchLimit), errSlow)
	defer cancel()
	g := git{store: s, dir: dir}
	if _, err := g.run(ctx, "init", "--quiet"); err != nil {
		return "", explain(ctx, r, err)
	}
	ref := r.Ref
	if ref == "" {
		ref = "HEAD"
	}
	what := "FETCH_HEAD"
	_, err := g.run(ctx, "fetch", "--progress", "--depth=1", "--no-tags", "--", r.URL, ref)
	if err != nil && commitPrefix.MatchString(r.Ref) && ctx.Err() == nil {
		// Not every server serves single commits, and none serves abbreviated ones: then fetch everything.
		what = r.Ref
		_, err = g.run(ctx, "fetch", "--progress", "--no-tags", "--", r.URL, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
	}
	if g := (*gitError)(nil); errors.As(err, &g) && strings.Contains(g.said, "couldn't find remote ref") {
		return "", problem.New(fmt.Sprintf("extension repository %s has no such branch, tag or commit", r), "correct the ref of v1alpha1.extension_repo")
	}
	if err != nil {
		return "", explain(ctx, r, err)
	}
	commit, err := g.run(ctx, "rev-parse", "--verify", "--quiet", what+"^{commit}")
	if err != nil {
		return "", problem.New(fmt.Sprintf("extension repository %s has no such commit", r), "correct the ref of v1alpha1.extension_repo")
	}
	commit = strings.TrimSpace(commit)
	if !commitText.MatchString(commit) {
		return "", fmt.Errorf("git reports that %s is commit %q", r, commit)
	}
	if _, err := g.run(ctx, "checkout", "--quiet", "--detach", commit); err != nil {
		return "", explain(ctx, r, err)
	}
	// The history is not needed, and without it the copy is not mistaken for a working tree.
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		return "", fmt.Errorf("fetch extensions from %s: %w", r, err)
	}
	return commit, nil
}

func orElse(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// git runs git commands in a repository of their own.
type git struct {
	store *Store
	dir   string
}

// gitError is a failed git command with its output.
type gitError struct {
	said string
	err  error
}

// Error returns the first error that git reported, which is the one that names the reason.
func (e *gitError) Error() string {
	for line := range strings.FieldsFuncSeq(e.said, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			_, reason, _ := strings.Cut(line, ": ")
			return reason
		}
	}
	return e.err.Error()
}

// Unwrap returns the error of the command.
func (e *gitError) Unwrap() error { return e.err }

var _ error = (*gitError)(nil)

// run runs one git command and returns its standard output. git never prompts, neither for passwords nor to trust a
// host. If git writes nothing for too long, it is stopped, and the error is errSilent.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var stdout bytes.Buffer
	watch := newWatchdog(orElse(g.store.silence, stall), func() { cancel(errSilent) })
	defer watch.stop()
	argv := append([]string{"git", "-c", "core.hooksPath=" + os.DevNull, "-c", "advice.detachedHead=false", "-c", "gc.auto=0",
		"-c", "protocol.ext.allow=never"}, args...)
	err := process.Run(ctx, process.Command{
		Cmd: model.Cmd{Argv: argv, Dir: g.dir, Env: g.environment()}, ExtraEnv: g.store.Env,
		Stdout: io.MultiWriter(&stdout, watch), Stderr: watch, Grace: grace, Plain: true,
	})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", &gitError{watch.text(), err}
	}
	return stdout.String(), nil
}

// environment keeps git from prompting, and from using another repository.
func (g git) environment() []string {
	at := filepath.Join(g.dir, ".git")
	env := []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "LC_ALL=C",
		"GIT_DIR=" + at, "GIT_WORK_TREE=" + g.dir, "GIT_INDEX_FILE=" + filepath.Join(at, "index")}
	if os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=10")
	}
	return env
}

// explain makes the problem that the user sees when a fetch failed.
func explain(ctx context.Context, r Repo, err error) error {
	local := fmt.Sprintf("v1alpha1.extension_repo(name=%q, url='file:///path/to/a/copy')", r.Name)
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return problem.Wrap(errors.New("git is not installed"), fmt.Sprintf("cannot fetch extensions from %s", r),
			"install git, or use a copy of the repository:\n"+local)
	case cause != nil && !errors.Is(cause, errSlow):
		return fmt.Errorf("fetch extensions from %s: %w", r, cause)
	case cause != nil:
		err = cause
	}
	p := problem.Wrap(err, fmt.Sprintf("cannot fetch extensions from %s", r),
		"there is no copy on this machine yet: check the network and the address, or use a copy of the repository:\n"+local)
	if g := (*gitError)(nil); errors.As(err, &g) {
		p.Detail = strings.TrimSpace(strings.ReplaceAll(logstore.HideUserinfo(g.said), "\r", "\n"))
	}
	return p
}

// watchdog keeps the end of a command's output, and calls a function when the command writes nothing for a while.
type watchdog struct {
	mu      sync.Mutex
	timer   *time.Timer
	silence time.Duration
	tail    []byte
}

// keptOutput is the number of bytes that a watchdog keeps of a command's output.
const keptOutput = 4 << 10

func newWatchdog(silence time.Duration, bark func()) *watchdog {
	return &watchdog{timer: time.AfterFunc(silence, bark), silence: silence}
}

// Write implements io.Writer.
func (w *watchdog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Reset(w.silence)
	w.tail = append(w.tail, p...)
	if n := len(w.tail) - keptOutput; n > 0 {
		w.tail = append([]byte(nil), w.tail[n:]...)
	}
	return len(p), nil
}

func (w *watchdog) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.tail)
}

func (w *watchdog) stop() { w.timer.Stop() }
