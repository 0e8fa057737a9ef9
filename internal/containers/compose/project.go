package compose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/template"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// Project is the project that the files of a Source declare.
type Project struct {
	// Services are the services whose profiles are active, in the order of the files.
	Services []Service
	// Inactive maps the names of the other services to their profiles.
	Inactive map[string][]string
	// Secrets are the values of the project's secrets, which logs must not show.
	Secrets []model.Secret
}

// Load evaluates the files. The error is an *Error if a place in a file is known.
func (s *Source) Load(ctx context.Context) (p *Project, err error) {
	docker.Hush() // the library would report deprecated syntax and variables that are not set, which Source.Unset returns
	// The library panics on some wrong types that it has not checked yet.
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, s.explain(fmt.Errorf("the files do not have the form of Compose files: %v", r))
		}
	}()
	loaded, err := loader.LoadWithContext(ctx, s.details(), s.configure)
	if err != nil {
		return nil, s.explain(err)
	}
	if err := s.readEnvironments(loaded); err != nil {
		return nil, err
	}
	if loaded, err = loaded.WithServicesEnvironmentResolved(true); err == nil {
		loaded, err = loaded.WithServicesLabelsResolved(true)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	p = &Project{Inactive: map[string][]string{}, Secrets: s.secrets(loaded)}
	for _, name := range s.order(loaded.Services) {
		service, err := s.service(loaded, loaded.Services[name])
		if err != nil {
			return nil, err
		}
		p.Services = append(p.Services, service)
	}
	for name, d := range loaded.DisabledServices {
		p.Inactive[name] = d.Profiles
	}
	return p, nil
}

func (s *Source) details() types.ConfigDetails {
	d := types.ConfigDetails{WorkingDir: s.Project.Dir, Environment: maps.Clone(s.env)}
	for _, f := range s.trace.files {
		d.ConfigFiles = append(d.ConfigFiles, types.ConfigFile{Filename: f.label, Content: f.data})
	}
	return d
}

func (s *Source) configure(o *loader.Options) {
	o.SetProjectName(s.Project.Name, true)
	o.Profiles = s.Project.Profiles
	// The environment files are read later, once they are known, so that they can be reported.
	o.SkipResolveEnvironment, o.SkipResolveLabels = true, true
	o.Interpolate.Substitute = func(text string, lookup template.Mapping) (string, error) {
		return substituteWith(text, lookup, func(name string) { s.unset[name] = true })
	}
}

// readEnvironments reads the files with the environments and labels of services, so that they are reported as read, and
// so that errors in them do not show their contents.
func (s *Source) readEnvironments(p *types.Project) error {
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		service := p.Services[name]
		for _, f := range service.EnvFiles {
			data, err := s.opts.Read(f.Path)
			if err == nil && f.Format == "" {
				_, err = parseEnv(f.Path, data, func(string) (string, bool) { return "any", true })
			}
			var placed *Error
			switch {
			case errors.As(err, &placed):
				return placed
			case err != nil && bool(f.Required):
				return s.at([]string{"services", name, "env_file"}, fmt.Sprintf("service %q: env_file: %v", name, err))
			}
		}
		for _, f := range service.LabelFiles {
			if _, err := s.opts.Read(f); err != nil {
				return s.at([]string{"services", name, "label_file"}, fmt.Sprintf("service %q: label_file: %v", name, err))
			}
		}
	}
	return nil
}

// order returns the names of services in the order of the files.
func (s *Source) order(services types.Services) []string {
	place := map[string]int{}
	for i, name := range s.trace.services {
		place[name] = i + 1
	}
	names := slices.Sorted(maps.Keys(services))
	slices.SortStableFunc(names, func(a, b string) int {
		pa, pb := place[a], place[b]
		if pa == 0 || pb == 0 {
			return pb - pa // services from other places come last
		}
		return pa - pb
	})
	return names
}

// maxSecret bounds the size in bytes of files that are read as secrets.
const maxSecret = 64 << 10

// secrets returns the values of the declared secrets, and the credentials in the environments of services and the arguments of their builds.
func (s *Source) secrets(p *types.Project) []model.Secret {
	var out []model.Secret
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		switch secret := p.Secrets[name]; {
		case secret.File != "":
			data, err := s.opts.Read(secret.File)
			if value := strings.TrimRight(string(data), "\r\n"); err == nil && value != "" && len(data) <= maxSecret {
				out = append(out, model.Secret{Name: name, Key: "file", Value: value})
			}
		case secret.Environment != "" && s.env[secret.Environment] != "":
			out = append(out, model.Secret{Name: name, Key: secret.Environment, Value: s.env[secret.Environment]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		service := p.Services[name]
		variables := settings(service.Environment)
		if service.Build != nil {
			variables = append(variables, settings(service.Build.Args)...)
		}
		out = append(out, model.Credentials(name, variables)...)
	}
	return out
}

// settings returns those variables that have a value, as "K=V".
func settings(variables types.MappingWithEquals) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if value := variables[name]; value != nil {
			out = append(out, name+"="+*value)
		}
	}
	return out
}
