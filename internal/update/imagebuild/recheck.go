package imagebuild

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/model"
)

// Recheck is the comparison of a remembered image with a new build of the same inputs.
type Recheck struct {
	// Files are the files that differ, without their times, and their causes as far as they are known.
	Files []UnlikeFile
	// Config is set if containers of the two get other settings, such as variables.
	Config bool
}

// UnlikeFile is a file that differs.
type UnlikeFile struct{ Path, Cause string }

// Recheckable returns the reason why the image of a request cannot be built only for a comparison; empty if it can.
func Recheckable(req Request) string {
	t := req.Target
	c := t.Custom
	switch {
	case t.Supervised:
		return "it has the synclet"
	case strings.Contains(req.platform(), ","):
		return "it is built for several platforms"
	case c == nil:
		return ""
	case c.BuildsNothing():
		return "its command builds nothing"
	case c.Tag != "" || c.OutputsImageRefTo != "" || c.SkipsLocalDocker:
		return "its command names the image"
	}
	return ""
}

// Recheck builds the image of a request again, from scratch, and compares it with the remembered image of the same inputs. Of the new
// build, no image stays. The request must be Recheckable.
func (b *Builder) Recheck(ctx context.Context, req Request, remembered model.ImageResult) (found Recheck, err error) {
	req.NoCache = true
	rebuilt := b.rebuilt
	if req.Target.Docker != nil && b.away(req.Builder) != nil {
		rebuilt = b.rebuiltElsewhere
	}
	after, err := rebuilt(ctx, req, remembered)
	if err != nil {
		return found, err
	}
	before, err := b.contents(ctx, req, remembered)
	if err != nil {
		return found, err
	}
	found.Config = before.config != after.config
	for _, p := range before.unlike(after) {
		found.Files = append(found.Files, UnlikeFile{p, cause(p, before, after)})
	}
	return found, nil
}

// rebuilt has the engine or a command build an image, and reads it.
func (b *Builder) rebuilt(ctx context.Context, req Request, remembered model.ImageResult) (out imageContents, err error) {
	id, remove, err := b.throwaway(ctx, req, remembered.ImageID)
	if err != nil {
		return out, err
	}
	defer remove()
	return b.contents(ctx, req, model.ImageResult{ImageID: id})
}

// rebuiltElsewhere has the other builder build an image, and reads it.
func (b *Builder) rebuiltElsewhere(ctx context.Context, req Request, _ model.ImageResult) (out imageContents, err error) {
	dir, err := os.MkdirTemp("", "hone-trial-")
	if err != nil {
		return out, fmt.Errorf("keep the image: %w", err)
	}
	defer os.RemoveAll(dir)
	logstore.Infof(req.Logger, "Builder: %s", b.away(req.Builder).Describe())
	manifest, err := b.sketch(ctx, req, dir, func(string) bool { return true })
	if err != nil {
		return out, err
	}
	image, err := partial.CompressedToImage(blobImage{ctx, manifest, layout(dir)})
	if err != nil {
		return out, err
	}
	return readContents(image)
}

// throwaway builds an image that remove removes, unless it is the one to keep.
func (b *Builder) throwaway(ctx context.Context, req Request, keep string) (id string, remove func(), err error) {
	gone := context.WithoutCancel(ctx)
	if req.Target.Docker != nil {
		build := buildRequest(req, *req.Target.Docker)
		// Others are to find the cache of the image that is kept.
		build.CacheTo = slices.DeleteFunc(slices.Clone(build.CacheTo), func(c model.BuildCache) bool { return c.Type != model.CacheInline })
		id, err = b.docker.Build(ctx, build)
		return id, func() {
			if id != keep {
				_ = b.docker.Remove(gone, id)
			}
		}, err
	}
	var result model.ImageResult
	if err := b.expect(req, *req.Target.Custom, &result); err != nil {
		return "", nil, err
	}
	remove = func() { _ = b.docker.Remove(gone, result.Local) } // the one to keep has other names
	if err := b.runCommand(ctx, req, *req.Target.Custom, result.Local); err != nil {
		remove()
		return "", nil, err
	}
	im, found, err := b.docker.Inspect(ctx, result.Local)
	if err == nil && !found {
		err = fmt.Errorf("its command has not built %s", result.Local)
	}
	if err != nil {
		remove()
	}
	return im.ID, remove, err
}

// contents reads an image where it is: in the engine, in the node, or in a registry.
func (b *Builder) contents(ctx context.Context, req Request, of model.ImageResult) (out imageContents, err error) {
	if of.ImageID == "" && !req.To.inNodes() {
		err = b.registry.read(ctx, of.Local, func(image v1.Image) (err error) {
			out, err = readContents(image)
			return err
		})
		return out, err
	}
	digest, blobs, err := b.findHere(ctx, req, of)
	if err != nil {
		return out, err
	}
	defer blobs.Close()
	image, err := partial.CompressedToImage(blobImage{ctx, digest, blobs})
	if err != nil {
		return out, err
	}
	return readContents(image)
}

// installers are the commands that install packages, and the folders in which they note or put them.
var (
	installers = []string{"apt-get ", "apt ", "apk ", "yum ", "dnf ", "pip ", "pip3 ", "npm ", "yarn ", "pnpm ", "gem ", "bundle ", "go get ", "go install ", "cargo ", "curl ", "wget ", "git clone "}
	installed  = []string{"/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/apt/", "/lib/apk/db/", "/var/cache/apk/", "/var/lib/rpm/", "/node_modules/", "/site-packages/", "/dist-packages/"}
)

// cause returns the reason why a file differs, as far as it can be known.
func cause(p string, before, after imageContents) string {
	was, had := before.files[p]
	is, has := after.files[p]
	layer, made := is.layer, after.madeBy
	if !has {
		layer, made = was.layer, before.madeBy
	}
	by := ""
	if layer < len(made) {
		by = made[layer]
	}
	verb, _, _ := strings.Cut(by, " ")
	runs := verb != "" && !slices.Contains([]string{"COPY", "ADD", "WORKDIR"}, verb)
	said := func(reason string) string {
		if by == "" {
			return reason
		}
		return reason + ": " + words.Clip(words.OneLine(by), mostCommand)
	}
	both := had && has
	switch {
	case both && was.shape == is.shape && was.Content != is.Content:
		return said("a time stamp or another number")
	case both && path.Ext(p) == ".pyc":
		return said("it holds the time of its source")
	case runs && containsAny(by, installers), containsAny(p, installed):
		return said("an unpinned package or download")
	case both && was.Content == is.Content && was.Size == is.Size:
		return said("its mode, owner or link")
	case runs:
		return said("a generated file")
	}
	return said("not known")
}

// mostCommand is the part of an instruction that is shown, in bytes.
const mostCommand = 100

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}
