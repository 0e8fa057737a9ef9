package survey

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tiltfile writes a Tiltfile that declares the project.
func (p Project) Tiltfile() string {
	w := &writer{}
	w.line("# What hone up runs. hone init wrote it once; from now on it is yours.")
	if len(p.YAML)+len(p.Kustomize)+len(p.Charts) > 0 {
		w.para("# Clusters for development (kind, k3d, minikube, Docker Desktop …) need no permission; any other one does:", "# allow_k8s_contexts('name-of-the-context')")
	}
	if len(p.Compose) > 0 {
		w.para("# Services of Compose run in the container engine.", "docker_compose("+oneOrList(p.Compose)+")")
	}
	restart := "restart_process()"
	if len(p.Compose) > 0 && len(p.YAML)+len(p.Kustomize)+len(p.Charts) == 0 {
		restart = "restart_container()"
	}
	for _, im := range p.Images {
		im.write(w, restart)
	}
	p.objects(w)
	p.resources(w)
	for _, l := range p.Locals {
		w.para("local_resource(", "    "+quote(l.Name)+",", "    serve_cmd="+quote(l.Serve)+",")
		if l.Dir != "" && l.Dir != "." {
			w.line("    serve_dir=" + quote(l.Dir) + ",")
		}
		w.line(")")
	}
	return w.String()
}

// objects declares where the objects are.
func (p Project) objects(w *writer) {
	if len(p.YAML) > 0 {
		w.para("# Objects of the cluster.")
		if len(p.YAML) == 1 {
			w.line("k8s_yaml(" + quote(p.YAML[0]) + ")")
		} else {
			w.line("k8s_yaml([")
			for _, f := range p.YAML {
				w.line("    " + quote(f) + ",")
			}
			w.line("])")
		}
	}
	if len(p.EnvSecrets) > 0 {
		w.para("# Secrets with the environment of containers: values of these files are in no other file.", "load('ext://secret', 'secret_create_generic')")
		for _, s := range p.EnvSecrets {
			w.line("secret_create_generic(" + quote(s.Name) + ", from_env_file=" + quote(s.File) + ")")
		}
	}
	for _, dir := range p.Kustomize {
		w.para("k8s_yaml(kustomize(" + quote(dir) + "))")
	}
	for _, c := range p.Charts {
		args := quote(c.Dir) + ", name=" + quote(c.Name)
		if len(c.Values) > 0 {
			args += ", values=" + list(c.Values)
		}
		w.para("k8s_yaml(helm(" + args + "))")
	}
}

// resources forwards the ports of workloads. It avoids ports below 1024, which not every machine allows, and ports that another
// workload uses.
func (p Project) resources(w *writer) {
	used := map[int]bool{}
	began := false
	for _, wl := range p.Workloads {
		if wl.Port == 0 && len(wl.After) == 0 || slices.ContainsFunc(p.Charts, func(c Chart) bool { return c.Name == wl.Name }) {
			continue
		}
		args := quote(wl.Name)
		if wl.Port > 0 {
			local := cmp.Or(wl.Local, wl.Port)
			if local < 1024 {
				local += 8000
			}
			for used[local] {
				local++
			}
			used[local] = true
			forward := strconv.Itoa(local)
			if local != wl.Port {
				forward += ":" + strconv.Itoa(wl.Port)
			}
			args += ", port_forwards=" + quote(forward)
		}
		if len(wl.After) > 0 {
			args += ", resource_deps=" + list(wl.After)
		}
		if !began {
			about := "# Ports of this machine that lead to pods."
			if slices.ContainsFunc(p.Workloads, func(wl Workload) bool { return len(wl.After) > 0 }) {
				about = "# Ports of this machine that lead to pods, and what has to be ready before."
			}
			w.para(about)
			began = true
		}
		w.line("k8s_resource(" + args + ")")
	}
}

func (im Image) write(w *writer, restart string) {
	args := []string{quote(im.Ref), quote(im.Context)}
	if im.Dockerfile != "" {
		args = append(args, "dockerfile="+quote(im.Dockerfile))
	}
	if im.Target != "" {
		args = append(args, "target="+quote(im.Target))
	}
	if im.Entrypoint != nil {
		args = append(args, "entrypoint="+list(im.Entrypoint))
	}
	var lines []string
	if im.Kind != "" {
		lines = append(lines, fmt.Sprintf("# %s, from %s.", im.Kind, im.file()))
	} else {
		lines = append(lines, "# From "+im.file()+".")
	}
	if im.Why != "" {
		lines = append(lines, "# "+strings.ToUpper(im.Why[:1])+im.Why[1:]+".")
	}
	if len(im.Live) == 0 {
		w.para(append(lines, "docker_build("+strings.Join(args, ", ")+")")...)
		return
	}
	lines = append(lines, "docker_build(")
	for _, a := range args {
		lines = append(lines, "    "+a+",")
	}
	lines = append(lines, "    live_update=[")
	for _, s := range im.Live {
		lines = append(lines, "        "+s.call()+",")
	}
	if im.Restart {
		lines = append(lines, "        "+restart+",")
	}
	w.para(append(lines, "    ],", ")")...)
}

func (s Step) call() string {
	switch {
	case s.FallBack != nil:
		return "fall_back_on(" + list(s.FallBack) + ")"
	case s.Run != "" && len(s.Trigger) == 0:
		return "run(" + quote(s.Run) + ")"
	case s.Run != "":
		return "run(" + quote(s.Run) + ", trigger=" + list(s.Trigger) + ")"
	}
	return "sync(" + quote(s.From) + ", " + quote(s.To) + ")"
}

// quote writes a text as a literal of the language.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}

func list(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// oneOrList writes one text, or a list of several.
func oneOrList(all []string) string {
	if len(all) == 1 {
		return quote(all[0])
	}
	return list(all)
}

// writer writes paragraphs.
type writer struct{ strings.Builder }

func (w *writer) line(s string) {
	w.WriteString(s)
	w.WriteByte('\n')
}

// para writes lines after an empty one.
func (w *writer) para(lines ...string) {
	w.WriteByte('\n')
	for _, l := range lines {
		w.line(l)
	}
}
