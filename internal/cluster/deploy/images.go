package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/imageref"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/pkg/model"
)

// builtImage is an image target, ready to be compared with the references in objects.
type builtImage struct {
	target model.ImageTarget
	means  imageref.Selector
	// cluster is the reference that the objects get; empty while the image has no result.
	cluster string
	found   bool
}

// imageSet replaces the references to built images and records all references that it has seen.
type imageSet struct {
	images []*builtImage
	seen   map[string]bool
	// unbuilt lets a reference stay whose image has no result.
	unbuilt bool
}

func newImageSet(targets []model.ImageTarget, results map[string]model.ImageResult) (*imageSet, error) {
	set := &imageSet{seen: map[string]bool{}}
	for _, t := range targets {
		named, err := reference.ParseNormalizedNamed(t.Ref)
		if err != nil {
			return nil, fmt.Errorf("image %q: %w", t.Ref, err)
		}
		set.images = append(set.images, &builtImage{target: t, means: imageref.Select(named), cluster: results[t.Ref].Cluster})
	}
	return set, nil
}

// match returns the built image that ref means, or nil.
func (s *imageSet) match(ref string) *builtImage {
	named, err := reference.ParseNormalizedNamed(strings.TrimSpace(ref))
	if err != nil {
		return nil
	}
	b, _ := imageref.Find(named, s.images, func(b *builtImage) imageref.Selector { return b.means })
	return b
}

// replace returns the reference that replaces ref in the cluster, and the image, which is nil if hone does not build
// it.
func (s *imageSet) replace(ref string) (string, *builtImage, error) {
	s.seen[ref] = true
	b := s.match(ref)
	if b == nil {
		return ref, nil, nil
	}
	if b.cluster == "" && s.unbuilt {
		b.found = true
		return ref, b, nil
	}
	if b.cluster == "" {
		return "", nil, fmt.Errorf("image %s: not built yet", b.target.Ref)
	}
	b.found = true
	return b.cluster, b, nil
}

// missing returns a problem if an image was built that no object uses. Base images of other built images need not be
// used.
func (s *imageSet) missing() error {
	base := map[string]bool{}
	for _, b := range s.images {
		for _, ref := range b.target.DependsOn {
			base[ref] = true
		}
	}
	var refs []string
	for _, b := range s.images {
		if !b.found && !base[b.target.Ref] {
			refs = append(refs, b.target.Ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	seen := slices.Sorted(maps.Keys(s.seen))
	p := problem.New("Docker image missing from yaml: "+strings.Join(refs, ", "), missingMend(refs, seen)).See("tiltfile")
	if len(seen) > 0 {
		p.Detail = "images in the YAML:\n  " + strings.Join(seen, "\n  ")
	} else {
		p.Detail = "the YAML names no image"
	}
	return p
}

func missingMend(refs, seen []string) string {
	var lines []string
	for _, ref := range refs {
		if near := nearest(ref, seen); near != "" {
			lines = append(lines, fmt.Sprintf("%s: did you mean %q, as the YAML says?", ref, near))
		}
	}
	lines = append(lines, "give the image the same name in the Tiltfile and in the YAML; "+
		"if a custom resource names it, give its path with k8s_kind(…, image_json_path=…)")
	return strings.Join(lines, "\n")
}

// nearest returns the candidate that differs least from want. It is empty if all differ too much.
func nearest(want string, candidates []string) string {
	best, bound := "", len(want)/3+2
	for _, c := range candidates {
		d := min(suggest.Distance(want, c, bound), suggest.Distance(lastPart(want), lastPart(c), bound)+1)
		if d < bound {
			best, bound = c, d
		}
	}
	return best
}

// lastPart returns the last path element of a reference, without tag and digest.
func lastPart(ref string) string {
	ref = ref[strings.LastIndexByte(ref, '/')+1:]
	if i := strings.IndexAny(ref, ":@"); i >= 0 {
		ref = ref[:i]
	}
	return ref
}

// isResult reports whether ref is already the result of a build, so that a place that two rules match is not replaced
// twice.
func (s *imageSet) isResult(ref string) bool {
	return s.byResult(ref) != nil
}

// byResult returns the built image whose result is ref, or nil if there is none.
func (s *imageSet) byResult(ref string) *builtImage {
	for _, b := range s.images {
		if b.cluster != "" && b.cluster == ref {
			return b
		}
	}
	return nil
}
