package kubernetes

import (
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/image"
)

// TagAsTheyAre gives images that are not built, and for which the Tiltfile sets no tag, the tag by which the objects
// refer to them, so that they are deployed as they are.
func (d *Declarations) TagAsTheyAre() error {
	var all fault.List
	for _, im := range d.images.List {
		if im.Custom == nil || !im.Custom.BuildsNothing() || im.Custom.Tag != "" {
			continue
		}
		tags, err := d.tagsOf(im)
		switch {
		case err != nil:
			all.Add(err)
		case len(tags) > 1:
			all.Add(d.ErrorAt(im.Site, "%s: %s is not built, and the objects run it with the tags %s: select the one that is updated in place with tag=",
				im.Builtin, im.Ref, strings.Join(tags, ", ")))
		case len(tags) == 1:
			im.Custom.Tag, im.Custom.DisablePush, im.Custom.SkipsLocalDocker = tags[0], true, true
		}
	}
	return all.Err()
}

// tagsOf returns the tags by which objects refer to an image; a reference without a tag counts as "latest".
func (d *Declarations) tagsOf(im *image.Image) ([]string, error) {
	var tags []string
	for _, o := range d.Objects.List {
		for _, ref := range o.Images {
			if d.images.Find(ref) != im {
				continue
			}
			named := d.images.Parse(ref)
			if _, fixed := named.(reference.Digested); fixed {
				return nil, d.ErrorAt(im.Site, "%s: %s is not built, and %s names it by its digest: give it a tag there",
					im.Builtin, im.Ref, o.FullName())
			}
			tag := reference.TagNameOnly(named).(reference.Tagged).Tag()
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	slices.Sort(tags)
	return tags, nil
}
