package imagebuild

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Prospect is the image that a build would give, as far as that is known before it.
type Prospect struct {
	// Image is the image that exists already, if it is Known.
	Image model.ImageResult
	Known bool
	// Registry has the image, which another machine has built, and Digest is its digest there; both are empty if this machine has built it.
	Registry, Digest string
	// Why is the reason for the build of an image that is not known, where it is not that Inputs differ from the last build.
	Why    string
	Inputs []api.ImageInput
}

// inputSums are the sums of a build's inputs that are not files, by kind and name. A build argument may be secret: they do not hold its
// value.
type inputSums map[api.InputKind]map[string]string

// add adds the sum of the values of an input.
func (s inputSums) add(kind api.InputKind, name string, values []any) {
	if s[kind] == nil {
		s[kind] = map[string]string{}
	}
	raw, _ := json.Marshal(values) // plain values
	sum := sha256.Sum256(raw)
	s[kind][name] = hex.EncodeToString(sum[:8])
}

// telling are the kinds of inputs, the most telling ones first.
var telling = []api.InputKind{api.InputDockerfile, api.InputCommand, api.InputArgument, api.InputImage, api.InputBase, api.InputTarget, api.InputPlatform,
	api.InputNetwork, api.InputSecret, api.InputSSH, api.InputEntrypoint, api.InputOptions, api.InputFile, api.InputFolder, api.InputLink,
	api.InputRegistry, api.InputSynclet, api.InputRules}

// differences returns the inputs that differ between two builds, the most telling ones first.
func differences(was, now inputSums, before, after *listing) []api.ImageInput {
	var out []api.ImageInput
	for _, kind := range telling {
		out = append(out, changes(kind, was[kind], now[kind])...)
	}
	if before.Cut || after.Cut {
		return out
	}
	out = append(out, changes(api.InputFile, contents(before), contents(after))...)
	out = append(out, changes(api.InputFolder, before.Folders, after.Folders)...)
	out = append(out, changes(api.InputLink, before.Links, after.Links)...)
	slices.SortStableFunc(out, func(a, b api.ImageInput) int { return slices.Index(telling, a.Kind) - slices.Index(telling, b.Kind) })
	return out
}

// changes returns the inputs of one kind that differ, by name: the changed ones, then the new ones, then those that are gone.
func changes[K comparable](kind api.InputKind, was, now map[string]K) (out []api.ImageInput) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		before, there := was[name]
		switch {
		case !there:
			out = append(out, api.ImageInput{Kind: kind, Name: name, Change: api.InputNew})
		case before != now[name]:
			out = append(out, api.ImageInput{Kind: kind, Name: name, Change: api.InputChanged})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, there := now[name]; !there {
			out = append(out, api.ImageInput{Kind: kind, Name: name, Change: api.InputGone})
		}
	}
	rank := []api.InputChange{api.InputChanged, api.InputNew, api.InputGone}
	slices.SortStableFunc(out, func(a, b api.ImageInput) int {
		return cmp.Compare(slices.Index(rank, a.Change), slices.Index(rank, b.Change))
	})
	return out
}

// contents returns the files as an image has them: with the mode and the sum of the content, but not the times.
func contents(l *listing) map[string]fileSums {
	out := make(map[string]fileSums, len(l.Files))
	for path, sums := range l.Files {
		sums.Look, sums.Stat = 0, 0
		out[path] = sums
	}
	return out
}

// why returns the reason for the build of an image that is not known: the inputs that differ from the last build, or a text.
func (b *Builder) why(ctx context.Context, req Request) (text string, inputs []api.ImageInput) {
	for _, dep := range req.Target.DependsOn {
		if req.Deps[dep].Local == "" {
			inputs = append(inputs, api.ImageInput{Kind: api.InputImage, Name: dep, Change: api.InputChanged})
		}
	}
	switch {
	case b.memory == nil:
		return "hone keeps no record of builds here", nil
	case req.NoCache:
		return "it is built from scratch", nil
	}
	last, ok := b.memory.lastList(req)
	if !ok {
		if _, built := b.memory.Last(req.Target); built {
			return "the inputs of its last build are not known", nil
		}
		return "never built on this machine", nil
	}
	if len(inputs) > 0 {
		return "", inputs
	}
	now, err := b.sumUp(ctx, req)
	if err != nil {
		return err.Error(), nil
	}
	inputs = differences(last.Inputs, now.inputs, &last.Listing, now.files)
	if tooMany := last.Listing.Cut || now.files.Cut; len(inputs) > 0 {
		return "", told(req.Target, inputs)
	} else if tooMany {
		return "its files may have changed: there are too many to compare each", nil
	}
	if last.ImageID != "" && !b.Reusable(ctx, model.ImageResult{Local: last.Local, ImageID: last.ImageID}, req.To) {
		return "its last image is gone", nil
	}
	return "its files changed during the last build, or that failed", nil
}

// told returns differences as they are told: files have names that are short, and no change is told twice.
func told(t model.ImageTarget, inputs []api.ImageInput) []api.ImageInput {
	base, dockerfile := "", ""
	if t.Docker != nil {
		base, dockerfile = t.Docker.Context, t.Docker.Dockerfile
	} else if t.Custom != nil {
		base = t.Custom.Command.Dir
	}
	has := func(kind api.InputKind) bool {
		return slices.ContainsFunc(inputs, func(in api.ImageInput) bool { return in.Kind == kind })
	}
	dockerfileDiffers, filesDiffer := has(api.InputDockerfile), has(api.InputFile)
	// implied reports whether another input says the same: the Dockerfile names other bases, or is a file; the files of a folder differ.
	implied := func(in api.ImageInput) bool {
		if in.Kind == api.InputFolder {
			return filesDiffer
		}
		other := in.Kind == api.InputBase && in.Change != api.InputChanged
		itself := in.Kind == api.InputFile && in.Name == dockerfile
		return dockerfileDiffers && (other || itself)
	}
	var out []api.ImageInput
	for _, in := range inputs {
		if implied(in) {
			continue
		}
		if rel, err := filepath.Rel(base, in.Name); filepath.IsAbs(in.Name) && err == nil && filepath.IsLocal(rel) {
			in.Name = filepath.ToSlash(rel)
		}
		out = append(out, in)
	}
	return out
}

// mostTold is the number of kinds of inputs that a reason names.
const mostTold = 3

// Reason is the reason for the build in plain words: "handler.go and 2 other files changed".
func (p Prospect) Reason() string {
	if p.Why != "" {
		return p.Why
	}
	var parts []string
	for rest := p.Inputs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Kind == rest[0].Kind {
			n++
		}
		parts, rest = append(parts, changeText(rest[:n])), rest[n:]
	}
	if len(parts) > mostTold {
		parts = append(parts[:mostTold], "and more")
	}
	return strings.Join(parts, ", ")
}

// kindTexts are the words for kinds of inputs: those that have no name as a sentence, the others as the word before the name.
var kindTexts = map[api.InputKind]string{
	api.InputDockerfile: "its Dockerfile changed", api.InputCommand: "its command changed", api.InputTarget: "its target changed",
	api.InputPlatform: "its platform changed", api.InputNetwork: "its network or its extra hosts changed", api.InputEntrypoint: "its entrypoint changed",
	api.InputOptions: "its options changed", api.InputRegistry: "its registry changed", api.InputSynclet: "this version of hone has another synclet",
	api.InputRules:    "this version of hone builds in another way",
	api.InputArgument: "argument", api.InputImage: "image", api.InputBase: "base", api.InputSecret: "secret", api.InputSSH: "SSH agent",
	api.InputFile: "file", api.InputFolder: "folder", api.InputLink: "link",
}

// changeText says how inputs of one kind differ.
func changeText(inputs []api.ImageInput) string {
	first, kind := inputs[0], kindTexts[inputs[0].Kind]
	if first.Name == "" {
		return kind
	}
	text := kind + " " + first.Name
	if first.Kind == api.InputFile {
		text = first.Name
	}
	be := "is"
	if n := len(inputs) - 1; n > 0 {
		text, be = fmt.Sprintf("%s and %s", text, words.Count(n, "other "+kind)), "are"
	}
	alike := !slices.ContainsFunc(inputs, func(in api.ImageInput) bool { return in.Change != first.Change })
	switch {
	case alike && first.Change != api.InputChanged:
		return fmt.Sprintf("%s %s %s", text, be, first.Change)
	case first.Kind == api.InputBase && len(inputs) == 1:
		return text + " has a new digest"
	}
	return text + " changed"
}
