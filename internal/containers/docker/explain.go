package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/patternmatcher"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/model"
)

// isRequestError reports whether the engine rejected the request before it began to build.
func isRequestError(err error) bool {
	return cerrdefs.IsInvalidArgument(err) || cerrdefs.IsNotFound(err)
}

var (
	commandRE     = regexp.MustCompile(`(?s)(?:failed running \[/bin/sh -c (.*)\]|process "/bin/sh -c (.*)" did not|The command '/bin/sh -c (.*)' returned)`)
	exitCodeRE    = regexp.MustCompile(`exit code: (\d+)|returned a non-zero code: (\d+)`)
	parseRE       = regexp.MustCompile(`(?i)dockerfile parse error|failed to parse dockerfile|unknown instruction|failed to create LLB definition`)
	lineRE        = regexp.MustCompile(`(?i)(?:parse error )?(?:on )?line (\d+)`)
	missingFileRE = regexp.MustCompile(`"([^"]+)":? not found|(?:lstat|stat) (\S+?): (?:no such file|file does not exist)|no source files were specified`)
	targetRE      = regexp.MustCompile(`target stage "?([^" ]+)"? could not be found|failed to reach build target (\S+)`)
	baseRE        = regexp.MustCompile(`(?i)pull access denied|repository does not exist|manifest unknown|manifest for \S+ not found|insufficient_scope|authorization failed|: not found`)
	networkRE     = regexp.MustCompile(`(?i)dial tcp|no such host|i/o timeout|TLS handshake|connection refused|connection reset|failed to do request|Temporary failure`)
)

// Step is a step of a build that has failed.
type Step struct {
	// Name begins with the step's number: "[build 2/4] RUN make".
	Name string
	// Err is the engine's message about the step, if it has one besides the message about the build.
	Err string
	// Tail are the last lines of its output.
	Tail []string
}

// Explain describes a failed build as a problem. It returns nil if it does not recognise the engine's message. at is
// the step that failed, nil if none had begun.
func Explain(req BuildRequest, err error, at *Step) error {
	text := err.Error()
	name, step := "", ""
	var tail []string
	if at != nil {
		name, tail, step = at.Name, at.Tail, stepOf(at.Name)
		if at.Err != "" {
			text = at.Err
		}
	}
	switch {
	case exitCodeRE.MatchString(text):
		return runProblem(req, name, step, text, tail)
	case networkRE.MatchString(text):
		return pullProblem(req, name, text, true)
	case targetRE.MatchString(text):
		m := targetRE.FindStringSubmatch(text)
		return userProblem(req, 0, fmt.Sprintf("the Dockerfile has no stage %q", m[1]+m[2]), "",
			"correct target= in docker_build, or name a stage so: FROM … AS "+m[1]+m[2], nil)
	case strings.HasPrefix(step, "COPY") || strings.HasPrefix(step, "ADD"):
		return copyProblem(req, step, text)
	case strings.HasPrefix(name, "[internal] load metadata for ") || strings.HasPrefix(step, "FROM"):
		return pullProblem(req, name, text, !baseRE.MatchString(text))
	case missingFileRE.MatchString(text) && at == nil && strings.Contains(text, "COPY"):
		return copyProblem(req, "", text)
	case baseRE.MatchString(text) && at == nil && containsAny(text, "pull", "manifest"):
		return pullProblem(req, "", text, false)
	case parseRE.MatchString(text):
		line := 0
		if m := lineRE.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1]) // the expression matches digits only
		}
		return userProblem(req, line, "the Dockerfile has an error", trimNoise(text), "correct "+dockerfileOf(req), nil)
	case step != "":
		return userProblem(req, findStep(req.Contents, step), brief(name)+" failed", text, "", tail)
	}
	return nil
}

// briefLength is the length in bytes to which a headline shortens a step.
const briefLength = 100

// brief puts a step on one line, shortened if it is too long.
func brief(name string) string {
	return words.Clip(words.OneLine(name), briefLength)
}

// stepOf cuts the counter off a step's name: "[build 2/4] RUN make" is the step "RUN make".
func stepOf(name string) string {
	if strings.HasPrefix(name, "[internal]") || !strings.HasPrefix(name, "[") {
		return ""
	}
	_, step, _ := strings.Cut(name, "] ")
	return step
}

func runProblem(req BuildRequest, name, step, text string, tail []string) error {
	m := exitCodeRE.FindStringSubmatch(text)
	if step == "" {
		// A step that another build runs at the same time is shared with that build, and only that build receives its
		// progress.
		name = "a command of the Dockerfile"
		if c := commandRE.FindStringSubmatch(text); c != nil {
			step = "RUN " + c[1] + c[2] + c[3]
			name = step
		}
	}
	summary := fmt.Sprintf("%s failed with exit code %s", brief(name), m[1]+m[2])
	return userProblem(req, findStep(req.Contents, step), summary, "", "", tail)
}

// copyProblem explains a COPY or ADD that found nothing to copy: a file that does not exist, or one that is ignored.
func copyProblem(req BuildRequest, step, text string) error {
	missing := ""
	if m := missingFileRE.FindStringSubmatch(text); m != nil {
		missing = strings.TrimPrefix(m[1]+m[2], "/")
	}
	if i := strings.LastIndex(missing, "/buildkit-mount"); i >= 0 {
		_, missing, _ = strings.Cut(missing[i+1:], "/")
	}
	line := findStep(req.Contents, step)
	if missing == "" {
		return userProblem(req, line, "the build cannot copy a file", text, "", nil)
	}
	summary := fmt.Sprintf("%s is not in the build context", missing)
	mend := "create it, or correct the path; the build looks for it in " + req.Context
	switch {
	case req.Context == "":
		mend = "give docker_build a context with files: its context is empty now"
	case strings.Contains(step, "--from="):
		summary, mend = missing+" does not exist in the stage or image that is copied from", "correct the path"
	case exists(filepath.Join(req.Context, missing)):
		summary = missing + " exists but is ignored"
		mend = "allow it" + whoIgnores(req, missing)
	}
	return userProblem(req, line, summary, "", mend, nil)
}

// whoIgnores names the rules that exclude the file.
func whoIgnores(req BuildRequest, file string) string {
	for _, ig := range req.Ignores {
		rel, err := filepath.Rel(ig.Base, filepath.Join(req.Context, file))
		if err != nil {
			continue
		}
		if matches(ig, rel) {
			return " in " + ig.Source + ", for example with the line !" + filepath.ToSlash(rel)
		}
	}
	return " in .dockerignore"
}

func matches(ig model.Ignore, rel string) bool {
	m, err := patternmatcher.New(ig.Patterns)
	if err != nil {
		return false
	}
	hit, err := m.MatchesOrParentMatches(rel)
	return err == nil && hit
}

// pullProblem explains a base image that cannot be pulled. It is the user's error, except if the network failed.
func pullProblem(req BuildRequest, name, text string, network bool) error {
	image := strings.TrimPrefix(name, "[internal] load metadata for ")
	if step := stepOf(name); step != "" {
		image = strings.TrimPrefix(step, "FROM ")
	}
	if image == "" {
		image = "a base image"
	}
	p := &problem.Problem{Summary: "cannot pull " + image, Cause: &streamError{trimNoise(text)},
		Mend: "check the name after FROM; if the image is private: docker login"}
	p.Detail = excerpt(req, findImage(req.Contents, image))
	if network {
		p.Mend = "check that the engine, or the builder in its place, reaches the registry; then try again"
		p.Cause = &Passing{p.Cause}
		return p
	}
	return &UserError{p}
}

// userProblem builds the problem for line of the Dockerfile (0 if unknown) with the tail of a step's output.
func userProblem(req BuildRequest, line int, summary, cause, mend string, tail []string) error {
	p := &problem.Problem{Summary: summary, Mend: mend}
	if cause != "" {
		p.Cause = &streamError{cause}
	}
	p.Output, p.Detail = strings.Join(tail, "\n"), excerpt(req, line)
	return &UserError{p}
}

// trimNoise drops the prefixes that BuildKit adds to a message.
func trimNoise(text string) string {
	for _, prefix := range []string{"Error response from daemon: ", "failed to solve with frontend dockerfile.v0: ", "failed to solve: ",
		"failed to create LLB definition: ", "rpc error: code = Unknown desc = ", "failed to build LLB: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

func dockerfileOf(req BuildRequest) string {
	if req.Dockerfile == "" {
		return dockerfileName
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, req.Dockerfile); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return req.Dockerfile
}
