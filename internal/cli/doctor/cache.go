package doctor

import (
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/update/imagebuild"
)

// CheckedImage is a remembered image that was built again.
type CheckedImage struct {
	Ref   string
	Found imagebuild.Recheck
	Err   error
}

// SkippedImage is an image that cannot be checked.
type SkippedImage struct{ Ref, Why string }

// mostUnlike is the number of files that are listed for an image.
const mostUnlike = 20

// Cache returns the section about the images that a deploy would use again: whether a new build gives the same content. The skipped ones
// are those of the project that no sample can have.
func Cache(remembered int, checked []CheckedImage, skipped []SkippedImage) *Section {
	s := section("Remembered images")
	s.found("could be used again", "%s, %d of them checked", words.Count(remembered, "image"), len(checked))
	for _, c := range checked {
		switch {
		case c.Err != nil:
			s.fault(c.Ref, fmt.Errorf("it cannot be built again: %w", c.Err), "")
		case len(c.Found.Files) == 0 && !c.Found.Config:
			s.found(c.Ref, "a new build has the same content")
		default:
			s.fault(c.Ref, unlike(c.Found), "hone takes two builds of the same inputs as equal. Pin versions, and leave time stamps and random names out of the image")
		}
	}
	for _, im := range skipped {
		s.found(im.Ref, "skipped: %s", im.Why)
	}
	return s
}

// unlike lists the differences of an image.
func unlike(found imagebuild.Recheck) error {
	var b strings.Builder
	fmt.Fprintf(&b, "a new build of the same inputs differs: %s", words.Count(len(found.Files), "file"))
	if found.Config {
		b.WriteString("\nits configuration")
	}
	for i, f := range found.Files {
		if i == mostUnlike {
			fmt.Fprintf(&b, "\nand %d more", len(found.Files)-mostUnlike)
			break
		}
		fmt.Fprintf(&b, "\n%s  (%s)", f.Path, f.Cause)
	}
	return fmt.Errorf("%s", b.String())
}
