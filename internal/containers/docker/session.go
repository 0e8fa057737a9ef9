package docker

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/moby/buildkit/session"
	"github.com/moby/buildkit/session/filesync"
	"github.com/moby/buildkit/session/secrets/secretsprovider"
	"github.com/moby/buildkit/session/sshforward/sshprovider"

	"github.com/hone-dev/hone/internal/base/problem"
)

// dockerfileName is the name of the Dockerfile inside the session.
const dockerfileName = "Dockerfile"

// buildSession is the connection through which the engine fetches files, secrets and credentials from this machine
// during a build.
type buildSession struct {
	*session.Session
	names *checkedFS
}

// newSession prepares a session; it serves once it is run.
func newSession(ctx context.Context, req BuildRequest, config *userConfig, away *gone) (*buildSession, error) {
	s, err := session.NewSession(ctx, shareKey(req))
	if err != nil {
		return nil, fmt.Errorf("open a build session: %w", err)
	}
	files, err := newContextFS(req.Context, req.Ignores, away)
	if err != nil {
		return nil, contextProblem(req.Context, err)
	}
	names := &checkedFS{FS: files}
	s.Allow(filesync.NewFSSyncProvider(filesync.StaticDirSource{
		"context": names,
		"dockerfile": memFS{
			{name: dockerfileName, data: []byte(req.Contents)},
			// The ignore rules have been applied on this side; this file keeps BuildKit from applying them again.
			{name: dockerfileName + ".dockerignore", data: []byte("# applied by the client\n")},
		},
	}))
	s.Allow(config.sessionAuth())
	if req.Output != nil && req.Output.Archive != nil {
		open := func(map[string]string) (io.WriteCloser, error) { return req.Output.Archive(), nil }
		s.Allow(filesync.NewFSSyncTarget(filesync.WithFSSync(0, open)))
	}
	if len(req.Secrets) > 0 {
		secrets, err := secretStore(req.Secrets)
		if err != nil {
			return nil, err
		}
		s.Allow(secrets)
	}
	if len(req.SSH) > 0 {
		agents, err := sshAgents(req.SSH)
		if err != nil {
			return nil, err
		}
		s.Allow(agents)
	}
	return &buildSession{s, names}, nil
}

// shareKey names the copy of the context that BuildKit keeps between builds, so that only changes are sent. The ignore
// rules are part of the key: otherwise two images that use different parts of one folder would keep replacing each
// other's copy.
func shareKey(req BuildRequest) string {
	h := sha256.New()
	host, _ := os.Hostname() // without a name the path alone identifies the context
	_ = json.NewEncoder(h).Encode([]any{host, req.Context, req.Ignores})
	return "hone-" + hex.EncodeToString(h.Sum(nil))[:32]
}

// contextProblem explains a context that cannot be read.
func contextProblem(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &UserError{problem.New("the build context "+dir+" does not exist",
			"create the folder, or correct the context in docker_build; if a resource creates it, add that resource to resource_deps=")}
	}
	return &UserError{problem.Wrap(err, "cannot read the build context "+dir, "make the folder readable, or correct its ignore rules")}
}

// secretStore supports "id=NAME,src=PATH", "id=NAME,env=VARIABLE" and "id=NAME".
func secretStore(specs []string) (session.Attachable, error) {
	sources := make([]secretsprovider.Source, 0, len(specs))
	for _, spec := range specs {
		src, err := parseSecret(spec)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	store, err := secretsprovider.NewStore(sources)
	if err != nil {
		return nil, &UserError{problem.Wrap(err, "cannot read a build secret",
			"correct secret= in docker_build: \"id=NAME,src=PATH\" or \"id=NAME,env=VARIABLE\"")}
	}
	return secretsprovider.NewSecretProvider(store), nil
}

func parseSecret(spec string) (secretsprovider.Source, error) {
	var src secretsprovider.Source
	bad := func(why string) (secretsprovider.Source, error) {
		return src, &UserError{problem.New(fmt.Sprintf("build secret %q: %s", spec, why),
			"write secret=\"id=NAME,src=PATH\" or secret=\"id=NAME,env=VARIABLE\"")}
	}
	fields, err := csv.NewReader(strings.NewReader(spec)).Read()
	if err != nil {
		return bad("not a list of key=value")
	}
	kind := ""
	for _, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return bad(fmt.Sprintf("%q has no value", field))
		}
		switch strings.ToLower(key) {
		case "id":
			src.ID = value
		case "src", "source":
			src.FilePath = value
		case "env":
			src.Env = value
		case "type":
			kind = value
		default:
			return bad(fmt.Sprintf("unknown key %q", key))
		}
	}
	if src.ID == "" {
		return bad("it needs an id")
	}
	if kind == "env" && src.Env == "" {
		src.Env, src.FilePath = src.FilePath, ""
	}
	return src, nil
}

// sshAgents supports "default" and "ID=SOCKET-OR-KEY[,KEY…]".
func sshAgents(specs []string) (session.Attachable, error) {
	configs := make([]sshprovider.AgentConfig, 0, len(specs))
	for _, spec := range specs {
		id, paths, _ := strings.Cut(spec, "=")
		c := sshprovider.AgentConfig{ID: id}
		if paths != "" {
			c.Paths = strings.Split(paths, ",")
		}
		configs = append(configs, c)
	}
	agents, err := sshprovider.NewSSHAgentProvider(configs)
	if err != nil {
		return nil, &UserError{problem.Wrap(err, "cannot forward SSH to the build",
			"start an agent (eval \"$(ssh-agent)\"; ssh-add), or name a key: ssh=\"default=/path/to/key\"")}
	}
	return agents, nil
}

// serving is a session that runs alongside a build.
type serving struct {
	stop func()
	err  error // valid after stop
}

// serve runs the session until stop, and calls failed if the session ends before with an error.
func (s *buildSession) serve(ctx context.Context, dial session.Dialer, failed context.CancelCauseFunc) *serving {
	ctx, cancel := context.WithCancel(ctx)
	out := &serving{}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(ctx, dial); err != nil && ctx.Err() == nil {
			out.err = &sessionError{err}
			failed(out.err)
		}
	})
	out.stop = func() {
		cancel()
		_ = s.Close() // it only waits
		wg.Wait()
	}
	return out
}

// sessionError is the error if the engine does not support sessions.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return "open a build session: " + e.err.Error() }
func (e *sessionError) Unwrap() error { return e.err }

var _ error = (*sessionError)(nil)
