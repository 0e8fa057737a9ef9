package image

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// cacheArgument is an argument of docker_build for caches.
type cacheArgument struct {
	name string
	// types are the types of caches that it takes.
	types []string
	// folder is the attribute that has the folder of a local cache.
	folder string
}

var (
	cacheFromArgument = cacheArgument{"cache_from", []string{model.CacheRegistry, model.CacheLocal, model.CacheGHA}, "src"}
	cacheToArgument   = cacheArgument{"cache_to", []string{model.CacheRegistry, model.CacheLocal, model.CacheInline, model.CacheGHA}, "dest"}
)

// parse reads caches as docker buildx writes them. A text without attributes has the references of images.
func (a cacheArgument) parse(c *eval.Call, texts value.Texts) ([]model.BuildCache, error) {
	var out []model.BuildCache
	for _, text := range given(texts) {
		fields, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil {
			return nil, a.refuse(text, "it is not a list of key=value")
		}
		if !slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(f, "=") }) {
			for _, ref := range fields {
				if why := a.checkRef(ref); why != "" {
					return nil, a.refuse(text, why)
				}
				out = append(out, model.BuildCache{Type: model.CacheRegistry, Attrs: map[string]string{"ref": ref}})
			}
			continue
		}
		cache, why := a.one(c, fields)
		if why == "" {
			why = a.check(c, cache)
		}
		if why != "" {
			return nil, a.refuse(text, why)
		}
		out = append(out, cache)
	}
	return out, nil
}

// refuse returns the error for one cache. A text that may hold a credential is not repeated.
func (a cacheArgument) refuse(text, why string) error {
	if strings.Contains(strings.ToLower(text), "token") {
		return fmt.Errorf("%s: %s", a.name, why)
	}
	return fmt.Errorf("%s: %q: %s", a.name, text, why)
}

// one reads the fields of one cache, or returns the reason why it cannot.
func (a cacheArgument) one(c *eval.Call, fields []string) (cache model.BuildCache, why string) {
	cache.Attrs = map[string]string{}
	for _, field := range fields {
		key, text, ok := strings.Cut(field, "=")
		if !ok {
			return cache, fmt.Sprintf("%q has no value", field)
		}
		if key = strings.ToLower(strings.TrimSpace(key)); key == "type" {
			cache.Type = text
			continue
		}
		cache.Attrs[key] = text
		c.Hide(c.Name, []string{key + "=" + text})
	}
	if folder := cache.Attrs[a.folder]; cache.Type == model.CacheLocal && folder != "" {
		cache.Attrs[a.folder] = c.Abs(folder)
	}
	return cache, ""
}

// check returns the reason why a cache cannot be used; empty if it can.
func (a cacheArgument) check(c *eval.Call, cache model.BuildCache) string {
	other := map[string]string{"src": "dest", "dest": "src"}[a.folder]
	mode, hasMode := cache.Attrs["mode"]
	wrongMode := hasMode && mode != "min" && mode != "max"
	switch {
	case cache.Type == "":
		return "it has no type: write type=" + strings.Join(a.types, ", type=")
	case cache.Type == model.CacheInline && !slices.Contains(a.types, cache.Type):
		return "an inline cache is in an image: write the reference of that image"
	case !slices.Contains(a.types, cache.Type):
		return fmt.Sprintf("unknown type %q: it can be %s", cache.Type, strings.Join(a.types, ", "))
	case wrongMode:
		return fmt.Sprintf("unknown mode %q: it can be min, max", mode)
	case cache.Type == model.CacheRegistry:
		return a.checkRef(cache.Attrs["ref"])
	case cache.Type != model.CacheLocal:
		return ""
	case cache.Attrs[other] != "":
		return fmt.Sprintf("%s has %s=, not %s=", a.name, a.folder, other)
	}
	return a.checkFolder(c, cache.Attrs[a.folder])
}

// checkRef checks the reference of a cache in a registry. A build fails if it cannot write its cache, but not if it cannot read one.
func (a cacheArgument) checkRef(ref string) string {
	if ref == "" {
		return "it has no ref=, the reference of an image in a registry"
	}
	if _, err := ParseRef(ref); err != nil && a.folder == "dest" {
		return err.Error()
	}
	return ""
}

// checkFolder checks the folder of a local cache, which need not exist yet: a first build writes it.
func (a cacheArgument) checkFolder(c *eval.Call, folder string) string {
	if folder == "" {
		return fmt.Sprintf("it has no %s=, a folder", a.folder)
	}
	if model.IsChild(folder, c.Dir()) {
		return "the folder has the Tiltfile in it: choose another one, as hone does not watch it"
	}
	_, err := os.ReadDir(folder)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	c.DependOn(folder)
	if info, failed := os.Stat(folder); failed == nil && !info.IsDir() {
		return folder + " is a file, not a folder"
	}
	return "cannot read the folder: " + err.Error()
}

// cachesOutside refuses a build whose context would be in the folder of one of its caches.
func cachesOutside(b *model.DockerBuild) error {
	if b.Context == "" {
		return nil
	}
	for _, cache := range b.Caches() {
		if f := cache.Folder(); f != "" && model.IsChild(f, b.Context) {
			return fmt.Errorf("context: it is in the folder %s, which holds a cache of builds", f)
		}
	}
	return nil
}

// leaveOutCaches keeps the folders of caches out of the contexts, and returns the ignores that keep them from being watched: builds write to them.
func (d *Declarations) leaveOutCaches() []model.Ignore {
	var rules []model.Ignore
	for _, folder := range d.cacheFolders() {
		rules = append(rules, ignore.File(folder, cacheSource))
		for _, im := range d.List {
			if im.Docker == nil || im.Docker.Context == "" {
				continue
			}
			if context := im.Docker.Context; folder != context && model.IsChild(context, folder) {
				im.Docker.ContextIgnores = append(im.Docker.ContextIgnores, ignore.Below(context, folder, cacheSource))
			}
		}
	}
	return rules
}

// cacheSource names the origin of the rules for the folders of caches.
const cacheSource = "cache of builds"

// cacheFolders returns the folders of all local caches.
func (d *Declarations) cacheFolders() (out []string) {
	for _, im := range d.List {
		if im.Docker == nil {
			continue
		}
		for _, cache := range im.Docker.Caches() {
			if folder := cache.Folder(); folder != "" && !slices.Contains(out, folder) {
				out = append(out, folder)
			}
		}
	}
	return out
}
