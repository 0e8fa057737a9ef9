package survey

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/interpolation"
	"github.com/compose-spec/compose-go/v2/loader"
	composetemplate "github.com/compose-spec/compose-go/v2/template"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/yamltext"
)

// objectsFile is the file for the objects that are made of Compose services.
const objectsFile = "kubernetes/compose.yaml"

// usualPorts are the ports of widely used images. Their Compose files need not name the ports, since services reach each other by
// name.
var usualPorts = map[string]int{"postgres": 5432, "mysql": 3306, "mariadb": 3306, "redis": 6379, "valkey": 6379, "mongo": 27017, "rabbitmq": 5672, "nginx": 80,
	"memcached": 11211, "elasticsearch": 9200, "kafka": 9092, "nats": 4222, "minio": 9000, "traefik": 80, "consul": 8500, "vault": 8200}

// composeObjects makes objects for a cluster of the services of the Compose files, in place of the files.
func (l *looker) composeObjects() error {
	if len(l.Compose) == 0 {
		return nil
	}
	if l.exists(objectsFile) {
		return fmt.Errorf("%s is there already: the objects made of %s would overwrite it", objectsFile, l.Compose[0])
	}
	details := types.ConfigDetails{WorkingDir: "/"}
	for _, name := range l.Compose {
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: name, Content: l.read(name)})
	}
	unset := map[string]bool{}
	p, err := loader.LoadWithContext(context.Background(), details, func(o *loader.Options) {
		o.SetProjectName("compose", true)
		o.Interpolate.LookupValue, o.Interpolate.Substitute = nothing, substitute(unset)
		o.SkipResolveEnvironment, o.ResolvePaths, o.SkipExtends, o.SkipInclude, o.Profiles = true, false, false, true, []string{"*"}
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", l.Compose[0], err)
	}
	l.unsetEnv = l.composeUnset()
	for _, name := range slices.Sorted(maps.Keys(unset)) {
		l.note(LeftOut, "%s: the value of ${%s}, which Compose takes from your environment or .env", l.Compose[0], name)
	}
	var docs [][]byte
	l.Workloads = slices.DeleteFunc(l.Workloads, func(w Workload) bool { _, is := p.Services[w.Name]; return is })
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		for _, o := range l.composeService(p.Services[name]) {
			text, err := yamltext.Marshal(o)
			if err != nil {
				return fmt.Errorf("write the objects of service %s: %w", name, err)
			}
			docs = append(docs, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Volumes)) {
		text, err := yamltext.Marshal(m{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": m{"name": kubeName(name)},
			"spec": m{"accessModes": []any{"ReadWriteOnce"}, "resources": m{"requests": m{"storage": "1Gi"}}}})
		if err != nil {
			return fmt.Errorf("write the claim of volume %s: %w", name, err)
		}
		docs = append(docs, text)
	}
	l.Written = map[string]string{objectsFile: "# Made of " + strings.Join(l.Compose, ", ") + " by hone init; from now on it is yours.\n" + string(bytes.Join(docs, []byte("---\n")))}
	l.note(Found, "%s: its services, as objects of a cluster in %s", l.Compose[0], objectsFile)
	l.YAML = append(l.YAML, objectsFile)
	l.Compose = nil
	return nil
}

// nothing is an empty environment for the Compose files: values of the user's environment may be secret, and differ for the next
// user.
var nothing interpolation.LookupValue = func(string) (string, bool) { return "", false }

// required matches a variable without which Compose starts nothing.
var required = regexp.MustCompile(`(^|[^$])\$\{(\w+):?\?[^}]*\}`)

// substitute puts the defaults of variables into a text. A variable without a default becomes empty, even a required one, and is
// added to unset.
func substitute(unset map[string]bool) func(string, composetemplate.Mapping) (string, error) {
	return func(text string, values composetemplate.Mapping) (string, error) {
		text = required.ReplaceAllString(text, "$1$${$2}")
		for name := range composetemplate.ExtractVariables(m{"": text}, nil) {
			if !strings.Contains(text, "${"+name+"-") && !strings.Contains(text, "${"+name+":-") {
				unset[name] = true
			}
		}
		return composetemplate.SubstituteWithOptions(text, values, composetemplate.WithoutLogging)
	}
}

// bare matches a value that consists of a single variable without a default.
var bare = regexp.MustCompile(`^\$(\w+|\{\w+(:?\?[^}]*)?\})$`)

// composeUnset returns the services' variables whose value is only a variable of Compose without a default. They are left out: an
// empty value would hide the value in an env_file.
func (l *looker) composeUnset() map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, file := range l.Compose {
		var c struct {
			Services map[string]struct {
				Environment any `json:"environment"`
			} `json:"services"`
		}
		_ = yaml.Unmarshal(l.read(file), &c) // the loader has read it
		for service, s := range c.Services {
			switch env := s.Environment.(type) {
			case map[string]any:
				for key, value := range env {
					out[[2]string{service, key}] = bare.MatchString(text(value))
				}
			case []any:
				for _, line := range env {
					key, value, _ := strings.Cut(text(line), "=")
					out[[2]string{service, key}] = bare.MatchString(value)
				}
			}
		}
	}
	return out
}

// m is an object, or a part of one.
type m = map[string]any

// kubeName makes a name that the cluster takes.
func kubeName(s string) string {
	return strings.Trim(notInName.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// notInName matches a character that the name of an object must not have.
var notInName = regexp.MustCompile(`[^0-9a-z-]`)

// composeService returns the Deployment and the Service of a Compose service.
func (l *looker) composeService(s types.ServiceConfig) []m {
	name := kubeName(s.Name)
	w := Workload{Name: name, Images: []string{s.Image}, After: nil}
	c := m{"name": name, "image": strings.TrimSuffix(s.Image, ":")} // a tag may be a variable without a value
	if s.Build != nil {
		if s.Image == "" {
			w.Images, c["image"] = []string{name}, name
		}
		dir := path.Clean(strings.TrimPrefix(s.Build.Context, "/"))
		file := path.Join(dir, "Dockerfile")
		if s.Build.Dockerfile != "" {
			file = path.Join(dir, s.Build.Dockerfile)
		}
		if l.declared == nil {
			l.declared = map[string]declaredImage{}
		}
		l.declared[file] = declaredImage{ref: untagged(w.Images[0]), context: dir}
	}
	if len(s.Entrypoint) > 0 {
		c["command"] = []string(s.Entrypoint)
	}
	if len(s.Command) > 0 {
		c["args"] = []string(s.Command)
	}
	if s.WorkingDir != "" {
		c["workingDir"] = s.WorkingDir
	}
	if from := l.composeEnvFiles(s); len(from) > 0 {
		c["envFrom"] = from
	}
	if env := l.composeEnv(s); len(env) > 0 {
		c["env"] = env
	}
	ports := l.composePorts(s, &w)
	if len(ports) > 0 {
		var list []any
		for _, p := range ports {
			list = append(list, m{"containerPort": p})
		}
		c["ports"] = list
	}
	if probe := composeProbe(s.HealthCheck); probe != nil {
		c["readinessProbe"] = probe
	}
	if user, err := strconv.Atoi(s.User); err == nil {
		c["securityContext"] = m{"runAsUser": user}
	}
	mounts, volumes := l.composeVolumes(s)
	pod := m{"containers": []any{c}}
	if len(mounts) > 0 {
		c["volumeMounts"], pod["volumes"] = mounts, volumes
	}
	replicas := 1
	if s.Deploy != nil && s.Deploy.Replicas != nil {
		replicas = *s.Deploy.Replicas
	}
	labels := m{"app": name}
	out := []m{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": m{"name": name},
		"spec": m{"replicas": replicas, "selector": m{"matchLabels": labels}, "template": m{"metadata": m{"labels": labels}, "spec": pod}}}}
	if len(volumes) > 0 { // a claim is mounted once
		out[0]["spec"].(m)["strategy"] = m{"type": "Recreate"} //nolint:forcetypeassert // it is made above
	}
	if len(ports) > 0 {
		var list []any
		for _, p := range ports {
			list = append(list, m{"name": "p" + strconv.Itoa(p), "port": p})
		}
		out = append(out, m{"apiVersion": "v1", "kind": "Service", "metadata": m{"name": name}, "spec": m{"selector": labels, "ports": list}})
	}
	for _, dep := range slices.Sorted(maps.Keys(s.DependsOn)) {
		w.After = append(w.After, kubeName(dep))
	}
	l.composeRest(s)
	l.Workloads = append(l.Workloads, w)
	return out
}

// composePorts returns the ports of a service's containers, and gives its workload the first one that is published.
func (l *looker) composePorts(s types.ServiceConfig, w *Workload) (ports []int) {
	add := func(p int) {
		if p > 0 && !slices.Contains(ports, p) {
			ports = append(ports, p)
		}
	}
	for _, p := range s.Ports {
		add(int(p.Target))
		if published, err := strconv.Atoi(p.Published); err == nil && w.Port == 0 {
			w.Port, w.Local = int(p.Target), published
		}
	}
	for _, e := range s.Expose {
		p, _ := strconv.Atoi(strings.Split(e, "/")[0])
		add(p)
	}
	if s.Build == nil && len(ports) == 0 {
		add(usualPorts[path.Base(untagged(s.Image))])
	}
	return ports
}

// composeEnvFiles returns the sources of a service's environment: a Secret for each of its files, which the Tiltfile makes of them.
// Their values are often secrets, and the objects are written to be committed. As in Compose, a later file takes precedence over an
// earlier one, and a variable that the service itself sets takes precedence over both.
func (l *looker) composeEnvFiles(s types.ServiceConfig) (out []any) {
	for _, f := range s.EnvFiles {
		name := path.Clean(strings.TrimPrefix(f.Path, "/"))
		if !l.exists(name) {
			l.note(LeftOut, "service %s: env_file %s", s.Name, name)
			continue
		}
		secret := kubeName(s.Name) + "-env"
		if len(out) > 0 {
			secret += "-" + strconv.Itoa(len(out)+1)
		}
		l.EnvSecrets = append(l.EnvSecrets, EnvSecret{Name: secret, File: name})
		out = append(out, m{"secretRef": m{"name": secret}})
		if composeOnly.Match(l.read(name)) {
			l.note(Guessed, "service %s: %s is read as kubectl create secret --from-env-file does: quotes and $ are parts of values, and no line "+
				"begins with export", s.Name, name)
		}
	}
	return out
}

// composeOnly matches lines of an env_file that mean something else to kubectl.
var composeOnly = regexp.MustCompile(`(?m)^\s*(export\s|[^#=\s]+=(["']|[^#\n]*\$))`)

// composeEnv returns the environment that a service sets itself.
func (l *looker) composeEnv(s types.ServiceConfig) (out []any) {
	for _, key := range slices.Sorted(maps.Keys(s.Environment)) {
		value := s.Environment[key]
		if value == nil || *value == "" && l.unsetEnv[[2]string{s.Name, key}] {
			l.note(LeftOut, "service %s: %s, which Compose takes from your environment", s.Name, key)
			continue
		}
		out = append(out, m{"name": key, "value": *value})
	}
	return out
}

// composeVolumes returns the mounts and volumes of a service. Bind mounts are left out, because a cluster cannot mount this
// machine's folders: a live update brings the files of an image instead.
func (l *looker) composeVolumes(s types.ServiceConfig) (mounts, volumes []any) {
	for i, v := range s.Volumes {
		name := "v" + strconv.Itoa(i)
		switch {
		case v.Type == types.VolumeTypeVolume && v.Source != "":
			volumes = append(volumes, m{"name": name, "persistentVolumeClaim": m{"claimName": kubeName(v.Source)}})
		case v.Type == types.VolumeTypeVolume || v.Type == types.VolumeTypeTmpfs:
			volumes = append(volumes, m{"name": name, "emptyDir": m{}})
		default:
			if s.Build == nil {
				l.note(LeftOut, "service %s: the mount of %s: put it into a ConfigMap or an image", s.Name, strings.TrimPrefix(v.Source, "/"))
			}
			continue
		}
		mounts = append(mounts, m{"name": name, "mountPath": v.Target})
	}
	return mounts, volumes
}

// composeProbe makes a readiness probe of a health check.
func composeProbe(h *types.HealthCheckConfig) m {
	if h == nil || h.Disable || len(h.Test) < 2 {
		return nil
	}
	command := []string(h.Test[1:])
	if h.Test[0] == "CMD-SHELL" {
		command = append([]string{"sh", "-c"}, command...)
	}
	probe := m{"exec": m{"command": command}}
	for key, d := range map[string]*types.Duration{"periodSeconds": h.Interval, "timeoutSeconds": h.Timeout, "initialDelaySeconds": h.StartPeriod} {
		if d != nil {
			probe[key] = max(1, int(time.Duration(*d).Seconds()))
		}
	}
	return probe
}

// composeRest notes the settings of a service that are not carried over.
func (l *looker) composeRest(s types.ServiceConfig) {
	for _, left := range []struct {
		what string
		is   bool
	}{
		{"profiles", len(s.Profiles) > 0}, {"network_mode", s.NetworkMode != ""}, {"secrets", len(s.Secrets) > 0}, {"configs", len(s.Configs) > 0},
		{"privileged", s.Privileged}, {"cap_add", len(s.CapAdd) > 0}, {"devices", len(s.Devices) > 0}, {"extra_hosts", len(s.ExtraHosts) > 0},
	} {
		if left.is {
			l.note(LeftOut, "service %s: %s", s.Name, left.what)
		}
	}
}
