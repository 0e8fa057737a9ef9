package tiltfile

import (
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// tagAsTheyAre has images that are not built, and whose Tiltfile names no tag, deployed as the objects name them.
func (d *k8sDeclarations) tagAsTheyAre() error {
	var all fault.List
	for _, im := range d.images.list {
		if im.Custom == nil || !im.Custom.BuildsNothing() || im.Custom.Tag != "" {
			continue
		}
		tags, err := d.tagsOf(im)
		switch {
		case err != nil:
			all.Add(err)
		case len(tags) > 1:
			all.Add(d.ErrorAt(im.site, "%s: %s is not built, and the objects run it with the tags %s: say which one is updated in place, with tag=",
				im.builtin, im.Ref, strings.Join(tags, ", ")))
		case len(tags) == 1:
			im.Custom.Tag, im.Custom.DisablePush, im.Custom.SkipsLocalDocker = tags[0], true, true
		}
	}
	return all.Err()
}

// tagsOf returns the tags by which objects name an image; without one it is the newest.
func (d *k8sDeclarations) tagsOf(im *image) ([]string, error) {
	var tags []string
	for _, o := range d.objects.list {
		for _, ref := range o.images {
			if d.images.find(ref) != im {
				continue
			}
			named := d.images.parse(ref)
			if _, fixed := named.(reference.Digested); fixed {
				return nil, d.ErrorAt(im.site, "%s: %s is not built, and %s names it by its digest: give it a tag there",
					im.builtin, im.Ref, o.fullName())
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
