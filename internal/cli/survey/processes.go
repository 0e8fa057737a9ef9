package survey

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// processes takes the processes of a Procfile, and the npm scripts of a project that nothing else runs.
func (l *looker) processes() {
	if l.exists("Procfile") {
		lines := bufio.NewScanner(bytes.NewReader(l.read("Procfile")))
		for lines.Scan() {
			name, command, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":")
			if !ok || strings.HasPrefix(name, "#") || name == "release" {
				continue
			}
			l.Locals = append(l.Locals, Local{Name: strings.TrimSpace(name), Serve: strings.TrimSpace(command)})
		}
		l.note(Found, "Procfile: its processes run on this machine")
		return
	}
	if len(l.Images)+len(l.Compose)+len(l.YAML)+len(l.Kustomize)+len(l.Charts) > 0 {
		return
	}
	for _, file := range l.all {
		if path.Base(file) != "package.json" {
			continue
		}
		var about struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal(l.read(file), &about) != nil {
			continue
		}
		for _, script := range []string{"dev", "start"} {
			if about.Scripts[script] == "" {
				continue
			}
			name := path.Base(path.Dir(file))
			if name == "." {
				name = "app"
			}
			l.Locals = append(l.Locals, Local{Name: name, Serve: "npm run " + script, Dir: path.Dir(file)})
			l.note(Found, "npm script %s of %s", script, file)
			break
		}
	}
}
