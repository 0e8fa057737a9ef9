package survey

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Image is an image that is built from a Dockerfile.
type Image struct {
	// Ref is the name under which objects use it.
	Ref string
	// Context is the folder of the build, and Dockerfile the file, if that is not Context/Dockerfile.
	Context, Dockerfile string
	// Kind is the kind of the project in the context; empty if it is unknown.
	Kind Kind
	// Live are the steps that put a saved file into running containers; none if the image has to be built.
	Live []Step
	// Target is the stage that is built, if that is not the last one.
	Target string
	// Restart says that the program must be started again after each live update: it does not see changes by itself.
	Restart bool
	// Entrypoint is the command of the containers, if it differs from the one in the Dockerfile: the program of another stage.
	Entrypoint []string
	// Why says why the image has no live update; it may be empty.
	Why string
}

// Step is a step of a live update: a sync, a command, or files that need a new image.
type Step struct {
	// From and To are the paths of a sync.
	From, To string
	// Run is a command, which runs when one of Trigger has changed; without triggers, always.
	Run     string
	Trigger []string
	// FallBack are files whose change needs a new image.
	FallBack []string
}

// Kind is the kind of a project.
type Kind string

// The kinds of projects.
const (
	Go     Kind = "Go"
	Node   Kind = "Node"
	Python Kind = "Python"
	Java   Kind = "Java"
	DotNet Kind = ".NET"
	Ruby   Kind = "Ruby"
	Rust   Kind = "Rust"
	PHP    Kind = "PHP"
)

// kinds tell a kind by a file. Compiled kinds need more than a copied source file.
var kinds = []struct {
	file     string
	kind     Kind
	compiled bool
	// install is the command that fetches the packages which the manifests name.
	install   string
	manifests []string
}{
	{"go.mod", Go, true, "", nil},
	{"Cargo.toml", Rust, true, "", nil},
	{"pom.xml", Java, true, "", nil},
	{"build.gradle", Java, true, "", nil},
	{"build.gradle.kts", Java, true, "", nil},
	{"*.csproj", DotNet, true, "", nil},
	{"*.fsproj", DotNet, true, "", nil},
	{"package.json", Node, false, "npm install", []string{"package.json", "package-lock.json"}},
	{"requirements.txt", Python, false, "pip install -r requirements.txt", []string{"requirements.txt"}},
	{"pyproject.toml", Python, false, "", []string{"pyproject.toml", "poetry.lock", "uv.lock"}},
	{"Gemfile", Ruby, false, "bundle install", []string{"Gemfile", "Gemfile.lock"}},
	{"composer.json", PHP, false, "composer install", []string{"composer.json", "composer.lock"}},
}

// declaredImage is an image that the configuration of another tool names.
type declaredImage struct{ ref, context string }

// dockerfileName matches the name of a Dockerfile.
var dockerfileName = regexp.MustCompile(`^(Dockerfile|Containerfile|Dockerfile\..*|.*\.Dockerfile)$`)

func isDockerfile(name string) bool { return dockerfileName.MatchString(path.Base(name)) }

// images takes the Dockerfiles.
func (l *looker) images() {
	for _, name := range l.all {
		if !isDockerfile(name) || l.within(name) {
			continue
		}
		dir := path.Dir(name)
		im := Image{Context: dir, Ref: path.Base(dir)}
		if base := path.Base(name); base != "Dockerfile" {
			im.Dockerfile = name
			if suffix := strings.TrimPrefix(strings.TrimSuffix(base, ".Dockerfile"), "Dockerfile."); suffix != base {
				im.Ref = suffix
			}
		}
		if dir == "." && im.Dockerfile == "" {
			im.Ref = "app"
		}
		if d, ok := l.declared[name]; ok {
			im.Ref, im.Context = d.ref, d.context
			im.Dockerfile = ""
			if name != path.Join(d.context, "Dockerfile") {
				im.Dockerfile = name
			}
		}
		l.live(&im, name)
		l.Images = append(l.Images, im)
	}
}

// live determines the live update of an image: the files that can be updated in running containers.
func (l *looker) live(im *Image, dockerfile string) {
	final, err := finalStage(l.read(dockerfile))
	if err != nil {
		im.Why = "its Dockerfile cannot be read: " + err.Error()
		return
	}
	compiled := false
	var install string
	var manifests []string
	for _, k := range kinds {
		if l.has(im.Context, k.file) {
			im.Kind, compiled, install, manifests = k.kind, k.compiled, k.install, k.manifests
			break
		}
	}
	if im.Kind == "" {
		im.Kind = final.kind() // empty if files are served as they are
	}
	if compiled && l.inStage(im, final) {
		return
	}
	if compiled {
		im.Why = fmt.Sprintf("%s is compiled: for a live update, compile in a local_resource, and sync what it makes", im.Kind)
		return
	}
	var present []string
	for _, m := range manifests {
		if l.exists(path.Join(im.Context, m)) {
			present = append(present, path.Join(im.Context, m))
		}
	}
	installs := len(present) > 0 && install != "" && final.runs(strings.Fields(install)[0])
	sources := 0
	for _, c := range final.copies {
		from := path.Join(im.Context, c.from)
		manifest := slices.Contains(present, from)
		if !l.exists(from) || manifest && !installs {
			continue
		}
		if !manifest {
			sources++
		}
		to := c.to
		if info, err := fs.Stat(l.files, from); err == nil && !info.IsDir() && c.into {
			to = path.Join(to, path.Base(from))
		}
		im.Live = append(im.Live, Step{From: from, To: to})
	}
	if im.Live = reduced(im.Live); sources == 0 {
		im.Live = nil
		im.Why = "its Dockerfile copies no folder of the project into the last stage"
		return
	}
	if len(present) > 0 {
		if installs {
			im.Live = append(im.Live, Step{Run: "cd " + final.workdir + " && " + install, Trigger: present})
		} else {
			im.Live = append([]Step{{FallBack: present}}, im.Live...)
		}
	}
	if im.Kind != "" && im.Kind != PHP && !l.reloads(*im, final) {
		im.Restart = true
	}
}

// reduced leaves out syncs that another one covers.
func reduced(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool {
		return slices.ContainsFunc(steps, func(o Step) bool {
			below, ok := strings.CutPrefix(s.From, o.From+"/")
			if o.From == "." {
				below, ok = s.From, s.From != "."
			}
			return ok && path.Join(o.To, below) == s.To
		})
	})
}

// has reports whether a folder has a file; the name may begin with "*".
func (l *looker) has(dir, file string) bool {
	return slices.ContainsFunc(l.all, func(name string) bool {
		fits, _ := path.Match(file, path.Base(name))
		return fits && path.Dir(name) == dir
	})
}

// packageManagers run the scripts of a package.json.
var packageManagers = []string{"npm", "yarn", "pnpm"}

// reloaders are words of commands whose programs see changed files by themselves.
var reloaders = []string{"nodemon", "--reload", "--watch", "tsx watch", "vite", "next dev", "ng serve", "react-scripts start", "webpack serve", "flask run --debug", "runserver", "rerun", "rails server"}

// reloads reports whether the program of an image sees changed files by itself.
func (l *looker) reloads(im Image, s stage) bool {
	line := strings.Join(s.command(), " ")
	if im.Kind == Node {
		line += " " + l.script(im.Context, line)
	}
	return slices.ContainsFunc(reloaders, func(word string) bool { return strings.Contains(line, word) })
}

// script returns the content of the npm script that a command runs.
func (l *looker) script(dir, command string) string {
	var about struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(l.read(path.Join(dir, "package.json")), &about) != nil {
		return ""
	}
	words := strings.Fields(command)
	for i, w := range words {
		if !slices.Contains(packageManagers, w) || i+1 == len(words) {
			continue
		}
		name := words[i+1]
		if name == "run" && i+2 < len(words) {
			name = words[i+2]
		}
		return about.Scripts[name]
	}
	return ""
}

// match gives images the names under which objects use them.
func (l *looker) match() {
	var used []string
	for _, w := range l.Workloads {
		for _, ref := range w.Images {
			if name := untagged(ref); name != "" && !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	free := slices.Clone(used)
	claim := func(i int, ref string) {
		l.Images[i].Ref = ref
		free = slices.DeleteFunc(free, func(f string) bool { return f == ref })
	}
	matched := map[int]bool{}
	for i, im := range l.Images {
		if slices.Contains(free, im.Ref) {
			claim(i, im.Ref)
			matched[i] = true
		}
	}
	for i, im := range l.Images {
		if matched[i] {
			continue
		}
		own := im.Ref
		if im.Context != "." {
			own = path.Base(im.Context)
		}
		at := slices.IndexFunc(free, func(ref string) bool { return path.Base(ref) == own })
		if at < 0 {
			at = slices.IndexFunc(free, func(ref string) bool { return strings.Contains(path.Base(ref), own) && len(own) > 2 })
		}
		if at < 0 && len(l.Images) == 1 {
			// The project has one image, and the objects use exactly one image that is not public.
			var unknown []int
			for n, ref := range free {
				if !public(ref) {
					unknown = append(unknown, n)
				}
			}
			if len(unknown) == 1 {
				at = unknown[0]
			}
		}
		at = l.asked(im, free, at)
		if at >= 0 {
			l.note(Guessed, "%s is built from %s", free[at], im.file())
			claim(i, free[at])
			matched[i] = true
		}
	}
	if len(used) == 0 && len(l.Charts) > 0 {
		return // a template of the chart names them
	}
	kept := l.Images[:0]
	for i, im := range l.Images {
		if matched[i] {
			kept = append(kept, im)
			l.note(Found, "image %s in %s", l.Images[i].Ref, im.file())
			continue
		}
		if len(l.Compose)+len(l.YAML)+len(l.Kustomize)+len(l.Charts) == 0 {
			l.note(LeftOut, "%s: nothing in the project runs the image: add objects for a cluster, or a Compose file", im.file())
			continue
		}
		if len(l.Compose) > 0 {
			l.note(LeftOut, "%s: Compose builds it; with an image: beside build: in %s it can be updated in place", im.file(), l.Compose[0])
			continue
		}
		l.note(LeftOut, "%s: no object uses an image of that name", im.file())
	}
	l.Images = kept
}

func (im Image) file() string {
	if im.Dockerfile != "" {
		return im.Dockerfile
	}
	return path.Join(im.Context, "Dockerfile")
}

// asked asks which of the images that objects use a Dockerfile builds, and returns its number; -1 for none. at is the guess.
func (l *looker) asked(im Image, free []string, at int) int {
	if len(free) == 0 {
		return at
	}
	const none = "none of them"
	var options []string
	if at >= 0 {
		options = append(options, free[at])
	} else {
		options = append(options, none)
	}
	for _, o := range append(slices.Clone(free), none) {
		if !slices.Contains(options, o) {
			options = append(options, o)
		}
	}
	return slices.Index(free, options[l.answer(Question{"Which image is built from " + im.file() + "?", options})])
}

// untagged returns an image's name without its tag and digest.
func untagged(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		ref = ref[:i]
	}
	return ref
}

// public reports whether an image is a widely used public one.
func public(ref string) bool {
	return slices.Contains([]string{"postgres", "mysql", "mariadb", "redis", "mongo", "rabbitmq", "nginx", "busybox", "alpine", "memcached", "elasticsearch",
		"kafka", "zookeeper", "nats", "minio", "traefik", "envoy", "consul", "vault", "prometheus", "grafana", "valkey"}, path.Base(ref))
}
