package up

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
)

const (
	// backgroundVariable tells a session that it runs in the background, and which file it writes to.
	backgroundVariable = "HONE_BACKGROUND"
	// startCheck is the interval at which the caller checks whether the session has started.
	startCheck = 50 * time.Millisecond
	// maxBackgroundLog is the size at which the log of a session in the background starts over; twice as much stays on disk.
	maxBackgroundLog = 16 << 20
)

// background is the log of a session in the background, to which its outputs are redirected. As a writer it bounds the log:
// before the log exceeds the limit, its content moves to a second file and replaces that file's content. The file itself
// stays, since the outputs of the process remain redirected to it.
type background struct {
	file  *os.File // appends
	limit int64

	mu   sync.Mutex // guards path, and the file's size
	path string
}

var _ io.Writer = (*background)(nil)

// inBackground returns the background log of this process, and hides it from the commands that the process starts; nil for
// a session that is not in the background.
func inBackground() *background {
	path := os.Getenv(backgroundVariable)
	_ = os.Unsetenv(backgroundVariable)
	if path == "" {
		return nil
	}
	return &background{file: os.Stdout, limit: maxBackgroundLog, path: path}
}

// name renames the log file after the session.
func (b *background) name(ctx context.Context, c *sessions.Claim) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	path := filepath.Join(filepath.Dir(b.path), c.Info().Name+".log")
	err := os.Rename(b.path, path)
	if err == nil {
		b.path = path
		_ = os.Remove(b.older()) // it belonged to an earlier session
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("name the session's log: %w", err)
	}
	return c.Publish(ctx, func(i *sessions.Info) { i.Log = path })
}

// older returns the file of the previous output.
func (b *background) older() string { return b.path + ".1" }

// Write implements io.Writer.
func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if info, err := b.file.Stat(); err == nil && info.Size() > 0 && info.Size()+int64(len(p)) > b.limit {
		if err := b.rotate(); err != nil {
			fmt.Fprintf(b.file, "earlier output is lost: %v\n", err)
		}
	}
	return b.file.Write(p)
}

// rotate copies the content of the file, and then empties it even if the copy has failed.
func (b *background) rotate() (err error) {
	defer func() { err = errors.Join(err, b.file.Truncate(0)) }()
	in, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(b.older(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// detach starts a session in the background and waits until it has begun its work. If it fails to start, the reason is
// printed here.
func detach(ctx context.Context, g *command.Global) error {
	log, err := newBackgroundLog()
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find hone: %w", err)
	}
	cmd := exec.Command(self, g.Args...)
	cmd.Env = append(os.Environ(), backgroundVariable+"="+log.Name())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		_ = os.Remove(log.Name())
		return fmt.Errorf("start hone in the background: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s, err := awaitStart(ctx, cmd.Process, ended, func(what string) { fmt.Fprintf(g.Stderr, "Waiting for %s…\n", what) })
	if err != nil {
		_, _ = log.Seek(0, io.SeekStart)
		_, _ = io.Copy(g.Stderr, log)
		_ = os.Remove(log.Name()) // if it was not renamed after the session meanwhile
		return err
	}
	fmt.Fprintf(g.Stdout, "Session %s runs in the background, pid %d.\n", s.Name, s.PID)
	if s.URL != "" {
		fmt.Fprintf(g.Stdout, "Session API at %s\nWeb page: hone open --session %s\n", s.URL, s.Name)
	}
	if _, tiltfile, _ := flags.CountResources(ctx, s); tiltfile != "" {
		fmt.Fprintf(g.Stdout, "It waits for its Tiltfile to be fixed: %s\n", tiltfile)
	} else if what := waitsFor(ctx, s); what != "" {
		fmt.Fprintf(g.Stdout, "It waits for %s\n", what)
	}
	fmt.Fprintf(g.Stdout, "Log in %s\n\n  hone attach --session %s   shows it\n  hone stop --session %s     ends it\n", s.Log, s.Name, s.Name)
	return nil
}

// newBackgroundLog creates a log file with a temporary name.
func newBackgroundLog() (*os.File, error) {
	dir := sessionLogs()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of logs: %w", err)
	}
	f, err := os.CreateTemp(dir, "starting-*.log")
	if err != nil {
		return nil, fmt.Errorf("create the session's log: %w", err)
	}
	_ = f.Close()
	// An appender continues at the end, even when another process has emptied the file.
	if f, err = os.OpenFile(f.Name(), os.O_RDWR|os.O_APPEND, 0); err != nil {
		return nil, fmt.Errorf("create the session's log: %w", err)
	}
	return f, nil
}

// awaitStart waits until the session of a process has begun its work, or the process has ended. When ctx is cancelled, it also ends
// the process. If the wait takes longer than a moment, awaitStart calls tell with the reason.
func awaitStart(ctx context.Context, p *os.Process, ended <-chan error, tell func(what string)) (sessions.Info, error) {
	tick := time.NewTicker(startCheck)
	defer tick.Stop()
	said, look := "", time.Now().Add(logstore.SayAfter)
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return sessions.Info{}, command.AlreadyPrinted(err, exit.ExitCode())
			}
			return sessions.Info{}, command.AlreadyPrinted(errors.New("the session has ended"), command.ExitFailure)
		case <-ctx.Done():
			_ = p.Signal(syscall.SIGTERM)
			<-ended //nolint:errcheck // how it ends does not matter after a signal
			return sessions.Info{}, ctx.Err()
		case <-tick.C:
		}
		living, err := flags.Registry().List(ctx)
		if err != nil {
			continue // the session reports that itself, and ends
		}
		for _, s := range living {
			if s.PID != p.Pid {
				continue
			}
			if s.Started {
				return s, nil
			}
			if time.Now().Before(look) {
				continue
			}
			look = time.Now().Add(time.Second)
			if what := cmp.Or(waitsFor(ctx, s), "the session to evaluate its Tiltfile"); what != said {
				said = what
				tell(what)
			}
		}
	}
}

// waitsFor returns the outside system that a session waits for, and why; empty if there is none or it is unknown.
func waitsFor(ctx context.Context, s sessions.Info) string {
	if s.Socket == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, flags.AskLimit)
	defer cancel()
	v, err := client.Over(s).View(ctx)
	switch {
	case err != nil:
		return ""
	case v.ClusterError != "":
		return "the cluster: " + v.ClusterError
	case v.EngineError != "":
		return "the container engine: " + v.EngineError
	}
	for _, c := range v.Clusters {
		if c.Needed && c.Error != "" {
			return "the cluster " + c.Name + ": " + c.Error
		}
	}
	for _, r := range v.Resources {
		if r.Waiting == nil {
			continue
		}
		switch buildcontrol.HoldReason(r.Waiting.Reason) {
		case buildcontrol.HoldCluster:
			return "the cluster to answer"
		case buildcontrol.HoldEngine:
			return "the container engine to answer"
		default:
		}
	}
	return ""
}
