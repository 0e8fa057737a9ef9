package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/cli/cli/connhelper"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

// Engine is a real container engine. Construct it with New.
type Engine struct {
	api      *client.Client
	endpoint Endpoint
	config   *userConfig
	looks    sync.Once // cleans up before the first call of Programs
	agreed   atomic.Bool
}

var _ Client = (*Engine)(nil)

// New returns a client for the engine at ep. It does not connect yet: the first call reports an engine that is down. An
// engine that comes back later is used automatically.
func New(ep Endpoint) (*Engine, error) {
	opts := []client.Opt{client.WithAPIVersionNegotiation(), client.WithVersionFromEnv()}
	tlsConfig, err := ep.tls()
	if err != nil {
		return nil, err
	}
	if tlsConfig != nil {
		opts = append(opts, client.WithHTTPClient(&http.Client{
			Transport: &http.Transport{TLSClientConfig: tlsConfig}, CheckRedirect: client.CheckRedirect,
		}))
	}
	helper, err := connhelper.GetConnectionHelper(ep.Host)
	if err != nil {
		return nil, fmt.Errorf("docker host %q: %w", ep.Host, err)
	}
	if helper != nil {
		opts = append(opts, client.WithHost(helper.Host), client.WithDialContext(helper.Dialer))
	} else {
		opts = append(opts, client.WithHost(ep.Host))
	}
	if ep.Fault != nil {
		opts = append(opts, client.WithDialContext(func(context.Context, string, string) (net.Conn, error) { return nil, ep.Fault }))
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("docker host %q: %w", ep.Host, err)
	}
	return &Engine{api: api, endpoint: ep, config: newUserConfig(ConfigDir())}, nil
}

// AnswerTimeout is the time that an engine may take to answer a question about itself. Some programs in the place of an engine
// accept connections and never answer.
const AnswerTimeout = 5 * time.Second

// ask asks the engine about itself.
func (e *Engine) ask(ctx context.Context, op string, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	err := question(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return Unreachable(e.endpoint.Host, e.endpoint.Context, errors.New("it accepts connections and answers nothing"))
	}
	return e.wrap(op, err)
}

// Ping implements Client.
func (e *Engine) Ping(ctx context.Context) (Info, error) {
	var ping types.Ping
	var version types.Version
	var info system.Info
	for _, q := range []struct {
		op       string
		question func(context.Context) error
	}{
		{"ping the docker engine", func(ctx context.Context) (err error) { ping, err = e.api.Ping(ctx); return err }},
		{"ask the docker engine for its version", func(ctx context.Context) (err error) {
			e.api.NegotiateAPIVersionPing(ping)
			version, err = e.api.ServerVersion(ctx)
			return err
		}},
		{"ask the docker engine for its properties", func(ctx context.Context) (err error) { info, err = e.api.Info(ctx); return err }},
	} {
		if err := e.ask(ctx, q.op, q.question); err != nil {
			return Info{}, err
		}
	}
	return Info{
		Version: version.Version, APIVersion: e.api.ClientVersion(), OS: version.Os, Arch: version.Arch,
		BuildKit: e.hasBuildKit(string(ping.BuilderVersion), ping.OSType), Host: e.endpoint.Host,
		Name: info.Name, Product: info.OperatingSystem, ManifestIDs: manifestIDs(info),
	}, nil
}

// manifestIDs reports whether an engine keeps images as containerd does.
func manifestIDs(info system.Info) bool {
	return slices.Contains(info.DriverStatus, [2]string{"driver-type", "io.containerd.snapshotter.v1"})
}

// Alive implements Client.
func (e *Engine) Alive(ctx context.Context) error {
	return e.ask(ctx, "ping the docker engine", func(ctx context.Context) error { _, err := e.api.Ping(ctx); return err })
}

// agree makes the client negotiate the API version with the engine. Its calls do so automatically, but some read the
// version before that, which would race with the negotiation by another goroutine.
func (e *Engine) agree(ctx context.Context) error {
	if e.agreed.Load() {
		return nil
	}
	_, err := e.api.ServerVersion(ctx)
	if err == nil {
		e.agreed.Store(true)
	}
	return err
}

// hasBuildKit decides whether to build with BuildKit. Engines before 23 have it but announce it only if they are
// configured to prefer it, so the API version decides.
func (e *Engine) hasBuildKit(announced, osType string) bool {
	switch os.Getenv("DOCKER_BUILDKIT") {
	case "0", "false":
		return false
	case "1", "true":
		return true
	}
	if announced == string(build.BuilderBuildKit) {
		return true
	}
	return osType != "windows" && versions.GreaterThanOrEqualTo(e.api.ClientVersion(), "1.39")
}

// Containers implements Client.
func (e *Engine) Containers(ctx context.Context, labels map[string]string) ([]Container, error) {
	args := filters.NewArgs(filters.Arg("status", "running"))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		args.Add("label", k+"="+labels[k])
	}
	if err := e.agree(ctx); err != nil {
		return nil, e.wrap("list containers", err)
	}
	list, err := e.api.ContainerList(ctx, container.ListOptions{Filters: args})
	if err != nil {
		return nil, e.wrap("list containers", err)
	}
	out := make([]Container, 0, len(list))
	for _, c := range list {
		name := ""
		if len(c.Names) > 0 {
			name = strings.TrimPrefix(c.Names[0], "/")
		}
		out = append(out, Container{ID: c.ID, Name: name, Image: c.Image, Labels: c.Labels})
	}
	return out, nil
}

// Env implements Client.
func (e *Engine) Env() []string { return e.endpoint.env() }

// Close implements Client.
func (e *Engine) Close() error { return e.api.Close() }
