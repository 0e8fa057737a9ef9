package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/pkg/model"
)

// FindFor returns the engine with which to build images for the cluster: minikube's own engine when the cluster is a minikube with
// the docker runtime and the user has not pointed DOCKER_HOST anywhere, else the result of Find. A cluster whose Runtime is not
// known yet is looked up in minikube's own configuration.
func FindFor(ctx context.Context, cluster model.Cluster) (Endpoint, error) {
	if cluster.Product != model.ProductMinikube || os.Getenv("DOCKER_HOST") != "" {
		return Find()
	}
	runtime := cluster.Runtime
	if runtime == "" {
		runtime = minikubeRuntime(minikubeHome(), profileOf(cluster))
	}
	if runtime != "docker" {
		return Find()
	}
	return minikubeEndpoint(ctx, profileOf(cluster), minikubeTimeout)
}

// Open returns a client for the engine with which to build images for the cluster. Like New, it does not connect yet.
func Open(ctx context.Context, cluster model.Cluster) (*Engine, error) {
	endpoint, err := FindFor(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return New(endpoint)
}

// profileOf returns minikube's name for the cluster.
func profileOf(cluster model.Cluster) string {
	if cluster.Name != "" {
		return cluster.Name
	}
	return cluster.Context
}

func minikubeHome() string {
	if dir := os.Getenv("MINIKUBE_HOME"); dir != "" {
		if filepath.Base(dir) == ".minikube" {
			return dir
		}
		return filepath.Join(dir, ".minikube")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".minikube"
	}
	return filepath.Join(home, ".minikube")
}

// minikubeRuntime reads the container runtime of a profile; empty if there is no such profile.
func minikubeRuntime(home, profile string) string {
	var config struct {
		KubernetesConfig struct{ ContainerRuntime string }
	}
	data, err := os.ReadFile(filepath.Join(home, "profiles", profile, "config.json"))
	if err != nil || json.Unmarshal(data, &config) != nil {
		return ""
	}
	if config.KubernetesConfig.ContainerRuntime == "" {
		return "docker" // minikube's default for a long time
	}
	return config.KubernetesConfig.ContainerRuntime
}

// minikubeTimeout is the time that minikube may take to answer: it logs in to its machine.
const minikubeTimeout = 2 * AnswerTimeout

// minikubeEndpoint asks the minikube command for the address of its engine.
func minikubeEndpoint(ctx context.Context, profile string, limit time.Duration) (Endpoint, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has not answered within %s", limit))
	defer cancel()
	var out, stderr bytes.Buffer
	argv := []string{"minikube", "-p", profile, "docker-env", "--shell", "none"}
	err := process.Run(ctx, process.Command{Cmd: model.Cmd{Argv: argv}, Stdout: &out, Stderr: &stderr, Plain: true})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		p := problem.Wrap(err, "cannot ask minikube for its Docker engine",
			"make this command work: minikube -p "+profile+" docker-env")
		p.Detail = strings.TrimSpace(stderr.String())
		return Endpoint{}, p
	}
	env := parseEnv(out.Bytes())
	if env["DOCKER_HOST"] == "" {
		return Find()
	}
	return Endpoint{Host: env["DOCKER_HOST"], CertDir: env["DOCKER_CERT_PATH"],
		SkipVerify: env["DOCKER_TLS_VERIFY"] == "", Explicit: true}, nil
}

// parseEnv reads lines of the forms K=V and export K="V".
func parseEnv(text []byte) map[string]string {
	env := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		env[key] = strings.Trim(value, `"'`)
	}
	return env
}
