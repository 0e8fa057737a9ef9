package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The types of caches.
const (
	CacheRegistry = "registry"
	CacheLocal    = "local"
	CacheInline   = "inline"
	CacheGHA      = "gha"
)

// hiddenAttr stands for the value of an attribute that is a credential.
const hiddenAttr = "***"

// BuildCache is a place that a builder reads the results of steps from, or writes them to.
type BuildCache struct {
	// Type is one of the types of caches.
	Type string
	// Attrs are the attributes of the cache, as docker buildx names them, without the type. The folder of a local cache, src or dest, is
	// absolute.
	Attrs map[string]string
}

// String returns the cache as docker buildx writes it, a plain reference where that means the same, without credentials.
func (c BuildCache) String() string {
	if ref, plain := c.Plain(); plain {
		return ref
	}
	out := []string{"type=" + c.Type}
	for _, name := range slices.Sorted(maps.Keys(c.Attrs)) {
		value := c.Attrs[name]
		if credentialName.MatchString(name) {
			value = hiddenAttr
		}
		field := name + "=" + value
		if strings.ContainsAny(field, "\",\n") {
			field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
		out = append(out, field)
	}
	return strings.Join(out, ",")
}

// Plain returns the reference of a cache in a registry that has no other attribute.
func (c BuildCache) Plain() (ref string, plain bool) {
	ref = c.Attrs["ref"]
	return ref, c.Type == CacheRegistry && len(c.Attrs) == 1 && ref != ""
}

// Folder returns the folder of a local cache; empty for others.
func (c BuildCache) Folder() string {
	if c.Type != CacheLocal {
		return ""
	}
	return c.Attrs["src"] + c.Attrs["dest"] // it has one of them
}

// variables returns the attributes as variables ("K=V").
func (c BuildCache) variables() (out []string) {
	for name, value := range c.Attrs {
		out = append(out, name+"="+value)
	}
	return out
}

// Caches returns all caches of a build.
func (d *DockerBuild) Caches() []BuildCache { return slices.Concat(d.CacheFrom, d.CacheTo) }

// CachesInline reports whether the image itself holds a cache.
func (d *DockerBuild) CachesInline() bool {
	return slices.ContainsFunc(d.CacheTo, func(c BuildCache) bool { return c.Type == CacheInline })
}

// CacheTexts returns caches as texts.
func CacheTexts(caches []BuildCache) (out []string) {
	for _, c := range caches {
		out = append(out, fmt.Sprint(c))
	}
	return out
}
