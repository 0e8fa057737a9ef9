//go:build linux

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// layout is the distribution of a project's objects over resources and files. It is a value: moves return a new one.
type layout struct {
	// object maps the name of each declared ConfigMap to its place.
	object map[string]place
	// workload is the name of the resource that the Deployment "app" belongs to.
	workload string
	// generation numbers the files, so that each layout has its own files and takes effect with the Tiltfile.
	generation int
}

// place is the resource and the file of an object.
type place struct {
	// resource is the name of the object's resource; empty for none, which makes the object uncategorized.
	resource string
	// file is the number of its YAML file.
	file int
}

const (
	planObjects = 6
	planFiles   = 3
)

// firstLayout has all ConfigMaps in one resource and one file.
func firstLayout() layout {
	l := layout{object: map[string]place{}, workload: "app"}
	for i := range planObjects {
		l.object[fmt.Sprintf("c%d", i)] = place{resource: "one"}
	}
	return l
}

// move is a way to hand objects over.
type move struct {
	name string
	do   func(layout, *rand.Rand) layout
}

// moves are all kinds of hand-over.
var moves = []move{
	{"rename", rename},
	{"rename the workload", renameWorkload},
	{"move", moveObjects},
	{"attach to the workload", attach},
	{"categorize", categorize},
	{"uncategorize", uncategorize},
	{"split the files", splitFiles},
	{"join the files", joinFiles},
	{"drop", drop},
	{"add", add},
}

// clone returns the same layout as the next generation.
func (l layout) clone() layout {
	return layout{object: maps.Clone(l.object), workload: l.workload, generation: l.generation + 1}
}

// names returns the ConfigMaps in order.
func (l layout) names() []string { return slices.Sorted(maps.Keys(l.object)) }

// resources returns the names of all resources, in order.
func (l layout) resources() []string {
	all := map[string]bool{l.workload: true}
	for _, p := range l.object {
		if all[p.resource] = true; p.resource == "" {
			delete(all, "")
			all["uncategorized"] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// set moves those objects for which in holds to another resource.
func (l layout) set(resource string, in func(name string, p place) bool) layout {
	l = l.clone()
	for _, name := range l.names() {
		if p := l.object[name]; in(name, p) {
			p.resource = resource
			l.object[name] = p
		}
	}
	return l
}

var resourceNames = []string{"one", "two", "three", "four"}

func anyOf[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }

// rename gives a resource another name, possibly the name of an existing one.
func rename(l layout, random *rand.Rand) layout {
	old, name := anyOf(random, l.resources()), anyOf(random, resourceNames)
	return l.set(name, func(_ string, p place) bool { return p.resource == old && old != l.workload })
}

// renameWorkload gives the resource of the Deployment another name; objects attached to it go with it.
func renameWorkload(l layout, random *rand.Rand) layout {
	old, name := l.workload, anyOf(random, []string{"app", "web", "server"})
	l = l.set(name, func(_ string, p place) bool { return p.resource == old })
	l.workload = name
	return l
}

func moveObjects(l layout, random *rand.Rand) layout {
	return l.set(anyOf(random, resourceNames), func(string, place) bool { return random.IntN(2) == 0 })
}

func attach(l layout, random *rand.Rand) layout {
	return l.set(l.workload, func(string, place) bool { return random.IntN(2) == 0 })
}

func categorize(l layout, random *rand.Rand) layout {
	return l.set(anyOf(random, append(slices.Clone(resourceNames), l.workload)), func(_ string, p place) bool { return p.resource == "" })
}

func uncategorize(l layout, random *rand.Rand) layout {
	return l.set("", func(string, place) bool { return random.IntN(2) == 0 })
}

func splitFiles(l layout, random *rand.Rand) layout {
	l = l.clone()
	for _, name := range l.names() {
		p := l.object[name]
		p.file = random.IntN(planFiles)
		l.object[name] = p
	}
	return l
}

func joinFiles(l layout, _ *rand.Rand) layout {
	l = l.clone()
	for name, p := range l.object {
		p.file = 0
		l.object[name] = p
	}
	return l
}

// drop removes an object from the project, but never the last one.
func drop(l layout, random *rand.Rand) layout {
	l = l.clone()
	if names := l.names(); len(names) > 1 {
		delete(l.object, anyOf(random, names))
	}
	return l
}

// add brings back an object that was dropped.
func add(l layout, random *rand.Rand) layout {
	l = l.clone()
	for i := range planObjects {
		if name := fmt.Sprintf("c%d", i); l.object[name] == (place{}) {
			l.object[name] = place{resource: anyOf(random, resourceNames)}
			return l
		}
	}
	return l
}

// declared returns the objects of the layout, for differences.
func (l layout) declared() map[string]string {
	out := map[string]string{"Deployment/app": ""}
	for name := range l.object {
		out["ConfigMap/"+name] = name
	}
	return out
}

const appYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 0
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: main, image: busybox}]}
`

// render returns the files of the layout; write the Tiltfile last.
func (l layout) render() (files map[string]string, tiltfile string) {
	files = map[string]string{}
	file := func(n int) string { return fmt.Sprintf("g%d-%d.yaml", l.generation, n) }
	files[file(0)] = appYAML
	owned := map[string][]string{}
	for _, name := range l.names() {
		p := l.object[name]
		files[file(p.file)] += fmt.Sprintf(configMapYAML, name, name)
		if p.resource != "" {
			owned[p.resource] = append(owned[p.resource], "'"+name+":configmap'")
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "k8s_yaml('%s')\n", name)
	}
	for _, name := range slices.Sorted(maps.Keys(owned)) {
		if name != l.workload {
			fmt.Fprintf(&b, "k8s_resource(new_name='%s', objects=[%s])\n", name, strings.Join(owned[name], ", "))
		}
	}
	fmt.Fprintf(&b, "k8s_resource('app', new_name='%s', objects=[%s])\n", l.workload, strings.Join(owned[l.workload], ", "))
	return files, b.String()
}
