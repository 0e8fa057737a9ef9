package doctor

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestOutside: in a container, an engine or a cluster that does not answer has the cause that containers give it, and a mend.
func TestOutside(t *testing.T) {
	kind := model.Cluster{Context: "kind-dev", Server: "https://127.0.0.1:6443"}
	within := []string{"/.dockerenv"}
	for name, tt := range map[string]struct {
		env             map[string]string
		files, hosts    []string
		known           model.Cluster
		engine, cluster bool
		says            []string
		faults          int
	}{
		"a machine":             {known: kind},
		"all answers":           {files: within, known: kind, engine: true, cluster: true, says: []string{"a container", "it answers"}},
		"a dev container":       {env: map[string]string{"REMOTE_CONTAINERS": "true"}, engine: true, says: []string{"a dev container"}},
		"a codespace":           {env: map[string]string{"CODESPACES": "true"}, engine: true, says: []string{"a codespace"}},
		"Podman":                {files: []string{"/run/.containerenv"}, engine: true, says: []string{"a container"}},
		"no socket":             {files: within, says: []string{"no socket of an engine is mounted", "docker-outside-of-docker"}, faults: 1},
		"a socket of others":    {files: append(within, engineSocket), says: []string{"no engine answers there", "ls -l " + engineSocket}, faults: 1},
		"an address":            {env: map[string]string{"DOCKER_HOST": "tcp://127.0.0.1:2375"}, files: within, says: []string{"DOCKER_HOST is tcp://127.0.0.1:2375", hostName}, faults: 1},
		"loopback":              {files: within, known: kind, engine: true, says: []string{"https://127.0.0.1:6443 is this container itself", "--network=host"}, faults: 1},
		"loopback and a name":   {files: within, hosts: []string{hostName}, known: kind, engine: true, says: []string{"--server=https://host.docker.internal:6443 --tls-server-name=localhost"}, faults: 1},
		"IPv6":                  {files: within, known: model.Cluster{Context: "a", Server: "https://[::1]:6443"}, engine: true, says: []string{"is this container itself"}, faults: 1},
		"all addresses":         {files: within, known: model.Cluster{Context: "a", Server: "https://0.0.0.0:6443"}, engine: true, says: []string{"is this container itself"}, faults: 1},
		"a name without effect": {files: within, known: model.Cluster{Context: "a", Server: "https://host.docker.internal:6443"}, engine: true, says: []string{"host.docker.internal is not known in here", "host-gateway"}, faults: 1},
		"another name":          {files: within, known: model.Cluster{Context: "a", Server: "https://box.lan:6443"}, engine: true, says: []string{"box.lan is not known in here"}, faults: 1},
		"a name that is known":  {files: within, hosts: []string{"box.lan"}, known: model.Cluster{Context: "a", Server: "https://box.lan:6443"}, engine: true, says: []string{"does not answer in here"}, faults: 1},
	} {
		has := func(all []string) func(string) bool {
			return func(s string) bool { return strings.Contains(" "+strings.Join(all, " ")+" ", " "+s+" ") }
		}
		s := Outside(Surroundings{func(n string) string { return tt.env[n] }, has(tt.files), has(tt.hosts)}, tt.known, tt.engine, tt.cluster)
		if (s == nil) != (len(tt.says) == 0) {
			t.Errorf("%s: %+v", name, s)
		}
		if s == nil {
			continue
		}
		var text strings.Builder
		faults := 0
		for _, f := range s.Findings {
			if f.Fault != "" {
				faults++
			}
			text.WriteString(f.Name + ": " + f.Value + f.Fault + "\n" + f.Mend + "\n")
		}
		for _, want := range tt.says {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, text.String())
			}
		}
		if faults != tt.faults {
			t.Errorf("%s: %d faults, want %d:\n%s", name, faults, tt.faults, text.String())
		}
		if n := Report("1.0", s).Faults; n != 0 {
			t.Errorf("%s: the causes of faults count as %d faults of their own", name, n)
		}
	}
}
