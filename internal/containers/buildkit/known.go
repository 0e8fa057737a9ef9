package buildkit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// Default is the name of the builder inside the container engine.
const Default = "default"

// Known is a builder that docker buildx has been told of.
type Known struct {
	Name string
	// Driver is how buildx makes it: docker, docker-container, remote or kubernetes.
	Driver string
	// Nodes are the machines of the builder. hone uses the first.
	Nodes []Node
}

// Node is a machine of a builder.
type Node struct {
	Name string
	// Endpoint is a docker context or an address.
	Endpoint   string
	DriverOpts map[string]string
}

// Find returns the builder that a name or an address chooses: nil for the engine's own. An error is a problem.
func Find(text string) (*Address, error) {
	switch {
	case text == "" || text == Default:
		return nil, nil //nolint:nilnil // the engine's own
	case strings.Contains(text, "://"):
		a, err := ParseAddress(text)
		return &a, err
	}
	all, err := All()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(k Known) bool { return k.Name == text })
	if at < 0 {
		names := []string{Default, model.BuilderInCluster}
		for _, k := range all {
			names = append(names, k.Name)
		}
		return nil, problem.New(fmt.Sprintf("there is no builder %q", text),
			"choose one of "+strings.Join(names, ", ")+"; or give an address: unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST").See("builders")
	}
	return all[at].Address()
}

// Address returns where the builder is: nil for one that is the engine's own.
func (k Known) Address() (*Address, error) {
	if len(k.Nodes) == 0 {
		return nil, problem.New(fmt.Sprintf("the builder %s has no node", k.Name), "add one: docker buildx create --append --name "+k.Name)
	}
	n := k.Nodes[0]
	switch k.Driver {
	case "docker":
		return nil, nil //nolint:nilnil // the engine's own
	case "docker-container":
		return &Address{Name: k.Name, URL: container + "://buildx_buildkit_" + n.Name, Endpoint: n.Endpoint}, nil
	case "remote":
		a, err := ParseAddress(n.Endpoint)
		if err != nil {
			return nil, err
		}
		a.Name = k.Name
		a.CA, a.Cert, a.Key = n.DriverOpts["cacert"], n.DriverOpts["cert"], n.DriverOpts["key"]
		a.ServerName = n.DriverOpts["servername"]
		return &a, nil
	}
	return nil, problem.New(fmt.Sprintf("the builder %s has the driver %s, which hone does not use", k.Name, k.Driver),
		"choose a builder with the driver docker, docker-container or remote: docker buildx ls").See("builders")
}

// All returns the builders that docker buildx has been told of, by name. Files that cannot be read as builders are left out.
func All() ([]Known, error) {
	dir := filepath.Join(buildxDir(), "instances")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, problem.Wrap(err, "cannot read the builders of docker buildx", "make the folder "+dir+" readable")
	}
	var out []Known
	for _, e := range entries {
		var k Known
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil && json.Unmarshal(raw, &k) == nil && k.Name != "" {
			out = append(out, k)
		}
	}
	return out, nil
}

// buildxDir returns the folder where docker buildx keeps its builders.
func buildxDir() string {
	return cmp.Or(os.Getenv("BUILDX_CONFIG"), filepath.Join(docker.ConfigDir(), "buildx"))
}
