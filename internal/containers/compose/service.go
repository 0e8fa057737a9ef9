package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/hone-dev/hone/pkg/model"
)

// Service is one service of a project.
type Service struct {
	Name string
	// Image is the reference that its containers run: the value of image:, else the name that Compose gives to the
	// built image; empty for a service that runs no image.
	Image string
	// Names are the possible references of the service's image: Image, and for an image without its own name the name
	// that Compose would give it with the other separator.
	Names []string
	// Build describes how Compose builds the image, nil if it only pulls it.
	Build *model.ComposeBuild
	// DependsOn are the active services that are started before this one, sorted.
	DependsOn []string
	// Entrypoint and Command are set by the service; nil if the image's are used.
	Entrypoint []string
	Command    []string
	Ports      []model.ComposePort
	// Binds are the absolute paths of this machine that its containers mount.
	Binds []string
	// Hash is a digest of the resolved configuration without build:, BuildHash a digest of build:.
	Hash      string
	BuildHash string
}

// service converts the fields that hone uses, and digests the rest.
func (s *Source) service(p *types.Project, c types.ServiceConfig) (Service, error) {
	out := Service{Name: c.Name, Image: c.Image, Entrypoint: c.Entrypoint, Command: c.Command, Ports: ports(c.Ports)}
	if c.Image != "" {
		out.Names = []string{c.Image}
	}
	var err error
	if c.Build != nil {
		if out.Build, err = buildOf(c.Build); err != nil {
			return out, err
		}
		if c.Image == "" {
			out.Names = s.imageNames(c.Name)
			out.Image = out.Names[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.DependsOn)) {
		if _, active := p.Services[name]; active {
			out.DependsOn = append(out.DependsOn, name)
		}
	}
	for _, v := range c.Volumes {
		if v.Type == types.VolumeTypeBind && filepath.IsAbs(v.Source) {
			out.Binds = append(out.Binds, filepath.Clean(v.Source))
		}
	}
	if out.BuildHash, err = digest(c.Build); err != nil {
		return out, err
	}
	out.Hash, err = serviceHash(p, c)
	return out, err
}

// imageNames returns the names that Compose gives to the image of a service: the current one, and the one with the
// separator of the other generation of Compose.
func (s *Source) imageNames(service string) []string {
	names := []string{s.Project.Name + "-" + service, s.Project.Name + "_" + service}
	if old, _ := strconv.ParseBool(s.env["COMPOSE_COMPATIBILITY"]); old {
		slices.Reverse(names)
	}
	return names
}

func buildOf(b *types.BuildConfig) (*model.ComposeBuild, error) {
	out := &model.ComposeBuild{Context: b.Context, Target: b.Target, Inline: b.DockerfileInline, Args: b.Args}
	rest := *b
	rest.Context, rest.Target, rest.Dockerfile, rest.DockerfileInline, rest.Args = "", "", "", "", nil
	var err error
	if out.Options, err = digest(rest); err != nil {
		return nil, err
	}
	out.Remote = !filepath.IsAbs(b.Context)
	if !out.Remote {
		out.Context = filepath.Clean(b.Context)
		if b.DockerfileInline == "" {
			out.Dockerfile = absolute(out.Context, b.Dockerfile)
		}
	}
	for _, c := range b.AdditionalContexts {
		if filepath.IsAbs(c) {
			out.Contexts = append(out.Contexts, filepath.Clean(c))
		}
	}
	slices.Sort(out.Contexts)
	return out, nil
}

func ports(in []types.ServicePortConfig) []model.ComposePort {
	var out []model.ComposePort
	for _, p := range in {
		published, err := strconv.Atoi(p.Published)
		if err != nil {
			published = 0 // none, or a range from which the engine selects
		}
		out = append(out, model.ComposePort{HostIP: p.HostIP, Published: published, Target: int(p.Target),
			Protocol: strings.ToLower(p.Protocol), Name: p.Name, AppProtocol: p.AppProtocol})
	}
	return out
}

// serviceHash digests everything that determines the containers of a service: its configuration, and the project's networks,
// volumes, configs and secrets that it uses. The digest excludes depends_on, profiles and the like, which do not change the
// containers.
func serviceHash(p *types.Project, c types.ServiceConfig) (string, error) {
	c.Build, c.DependsOn, c.Profiles, c.Develop, c.Extends = nil, nil, nil, nil, nil
	used := struct {
		Service  types.ServiceConfig
		Networks map[string]types.NetworkConfig
		Volumes  map[string]types.VolumeConfig
		Objects  map[string]string
	}{c, map[string]types.NetworkConfig{}, map[string]types.VolumeConfig{}, map[string]string{}}
	for name := range c.Networks {
		used.Networks[name] = p.Networks[name]
	}
	for _, v := range c.Volumes {
		if v.Type == types.VolumeTypeVolume && v.Source != "" {
			used.Volumes[v.Source] = p.Volumes[v.Source]
		}
	}
	for _, ref := range c.Configs {
		o := p.Configs[ref.Source]
		used.Objects["config "+ref.Source] = object(types.FileObjectConfig(o))
	}
	for _, ref := range c.Secrets {
		o := p.Secrets[ref.Source]
		used.Objects["secret "+ref.Source] = object(types.FileObjectConfig(o))
	}
	return digest(used)
}

// object identifies a config or secret, by its content if the project contains it.
func object(o types.FileObjectConfig) string {
	return fmt.Sprintf("%q %q %q %q %v", o.Name, o.File, o.Environment, o.Content, o.External)
}

func digest(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest a service: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
