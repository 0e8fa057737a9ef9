package docker

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/distribution/reference"
	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/types"
	"github.com/docker/docker/api/types/registry"
	"github.com/moby/buildkit/session"
	"github.com/moby/buildkit/session/auth"
	"google.golang.org/grpc"
)

// userConfig is the docker CLI's configuration: credentials, credential helpers and proxies. It is read again for each
// use, so that a "docker login" takes effect immediately. The mutex serialises credential helpers, because those that
// use a desktop keychain do not support concurrent runs.
type userConfig struct {
	mu  sync.Mutex
	dir string
}

func newUserConfig(dir string) *userConfig { return &userConfig{dir: dir} }

// load returns the configuration, or an empty one if it cannot be read.
func (c *userConfig) load() *configfile.ConfigFile {
	file, err := config.Load(c.dir)
	if err != nil {
		return config.LoadDefaultConfigFile(io.Discard)
	}
	return file
}

// hubKey is the key under which credentials of Docker Hub are stored.
const hubKey = "https://index.docker.io/v1/"

// registryAuth returns the encoded credentials for the registry of ref; the encoding of no credentials if there are none.
func (c *userConfig) registryAuth(ref string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := ""
	if named, err := reference.ParseNormalizedNamed(ref); err == nil {
		key = reference.Domain(named)
	}
	if key == "docker.io" {
		key = hubKey
	}
	stored, err := c.load().GetAuthConfig(key)
	if err != nil {
		stored.ServerAddress = key
	}
	return registry.EncodeAuthConfig(toAPI(stored))
}

func toAPI(a types.AuthConfig) registry.AuthConfig {
	return registry.AuthConfig{Username: a.Username, Password: a.Password, Auth: a.Auth, ServerAddress: a.ServerAddress,
		IdentityToken: a.IdentityToken, RegistryToken: a.RegistryToken}
}

// all returns the credentials of every registry, for the classic builder. A credential helper that fails yields none.
func (c *userConfig) all() map[string]registry.AuthConfig {
	c.mu.Lock()
	defer c.mu.Unlock()
	stored, err := c.load().GetAllCredentials()
	if err != nil {
		return nil
	}
	out := make(map[string]registry.AuthConfig, len(stored))
	for host, a := range stored {
		out[host] = toAPI(a)
	}
	return out
}

// sessionAuth lets BuildKit request credentials through the session.
func (c *userConfig) sessionAuth() session.Attachable {
	return &credentials{config: c, known: map[string]*auth.CredentialsResponse{}}
}

// hubHost is the registry that Docker Hub's credentials are for.
const hubHost = "registry-1.docker.io"

// credentials answers BuildKit's requests for credentials during one build. BuildKit trades them for tokens itself, as it does with
// every client that does not offer to: BuildKit's own provider, which offers it, brings BuildKit's whole client and a client of
// containerd into the program, 6 MB and a third of its packages.
type credentials struct {
	auth.UnimplementedAuthServer
	config *userConfig
	// known are answers by host: a credential helper may take a second. Guarded by the mutex of config.
	known map[string]*auth.CredentialsResponse
}

// Register implements session.Attachable.
func (c *credentials) Register(server *grpc.Server) { auth.RegisterAuthServer(server, c) }

// Credentials implements auth.AuthServer. A secret without a user name is a token that identifies the user.
func (c *credentials) Credentials(_ context.Context, req *auth.CredentialsRequest) (*auth.CredentialsResponse, error) {
	c.config.mu.Lock()
	defer c.config.mu.Unlock()
	if known, ok := c.known[req.Host]; ok {
		return known, nil
	}
	key := req.Host
	if key == hubHost {
		key = hubKey
	}
	stored, err := c.config.load().GetAuthConfig(key)
	if err != nil {
		return nil, err
	}
	out := &auth.CredentialsResponse{Username: stored.Username, Secret: stored.Password}
	if stored.IdentityToken != "" {
		out = &auth.CredentialsResponse{Secret: stored.IdentityToken}
	}
	c.known[req.Host] = out
	return out, nil
}

// buildArgs returns the arguments of a build on the builder at host: those without a value have the value of the environment, and the
// proxies that the user configured are added.
func (c *userConfig) buildArgs(host string, asked map[string]*string) map[string]*string {
	args := make(map[string]*string, len(asked))
	for name, value := range asked {
		if value == nil {
			v, ok := os.LookupEnv(name)
			if !ok {
				continue
			}
			value = &v
		}
		args[name] = value
	}
	return c.load().ParseProxyConfig(host, args)
}
