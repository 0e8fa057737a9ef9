package docker

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/hone-dev/hone/internal/base/words"
)

// findStep returns the line (from 1) on which the step begins, 0 if it is not found. BuildKit replaces variables and
// joins lines in the names of steps, so the comparison ignores both.
func findStep(contents, step string) int {
	if step == "" {
		return 0
	}
	want := words.OneLine(step)
	return findNode(contents, func(n *parser.Node) bool {
		have := words.OneLine(n.Original)
		return strings.EqualFold(have, want) || looseMatch(have, want)
	})
}

var variableRE = regexp.MustCompile(`\$(?:\w+|\{[^}]*\})`)

// looseMatch reports whether want is the step original with its variables replaced by some text.
func looseMatch(original, want string) bool {
	parts := variableRE.Split(original, -1)
	rest, ok := strings.CutPrefix(want, parts[0])
	if len(parts) == 1 || !ok || !strings.HasSuffix(rest, parts[len(parts)-1]) {
		return false
	}
	rest = strings.TrimSuffix(rest, parts[len(parts)-1])
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return true
}

// findImage returns the line of the FROM that names the image, 0 if there is none.
func findImage(contents, image string) int {
	for _, prefix := range []string{"docker.io/library/", "docker.io/"} {
		image = strings.TrimPrefix(image, prefix)
	}
	name, _, _ := strings.Cut(image, "@")
	bare := strings.TrimSuffix(name, ":latest")
	return findNode(contents, func(n *parser.Node) bool {
		if !strings.EqualFold(n.Value, "from") || n.Next == nil {
			return false
		}
		from := strings.TrimPrefix(strings.TrimPrefix(n.Next.Value, "docker.io/"), "library/")
		return from == name || from == bare
	})
}

// findNode returns the first line of the first instruction for which fits returns true, 0 if there is none.
func findNode(contents string, fits func(*parser.Node) bool) int {
	parsed, err := parser.Parse(strings.NewReader(contents))
	if err != nil {
		return 0
	}
	for _, n := range parsed.AST.Children {
		if fits(n) {
			return n.StartLine
		}
	}
	return 0
}

// around is the number of lines of a Dockerfile that are shown before and after the one with the error.
const around = 2

// excerpt returns the part of the Dockerfile around a line (from 1), with line numbers. It is empty if there is no such
// line.
func excerpt(req BuildRequest, line int) string {
	lines := strings.Split(strings.TrimRight(req.Contents, "\n"), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d", dockerfileOf(req), line)
	for n := max(1, line-around); n <= min(len(lines), line+around); n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		fmt.Fprintf(&b, "\n %s %3d | %s", mark, n, strings.TrimRight(lines[n-1], "\r"))
	}
	return b.String()
}
