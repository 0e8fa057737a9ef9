package imagebuild

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// BaseImages returns the references of all images that the Dockerfile uses: after FROM, and as --from of COPY, ADD and
// RUN --mount. Build arguments are filled in from args (nil values from the environment) and from the defaults of ARG.
// Stages of the Dockerfile itself do not count. A Dockerfile that cannot be parsed uses none: building it reports why.
func BaseImages(contents string, args map[string]*string) []string {
	var refs []string
	for _, u := range uses(contents, args) {
		if !slices.Contains(refs, u.ref) {
			refs = append(refs, u.ref)
		}
	}
	return refs
}

// FinalBase returns the reference of the image that the target stage is built on, through the stages between them; empty for the last
// stage. It is empty if there is none.
func FinalBase(contents string, args map[string]*string, target string) string {
	s := scanned(contents, args)
	at := len(s.stages) - 1
	if target != "" {
		at = slices.Index(s.stages, strings.ToLower(target))
	}
	for at >= 0 {
		base := s.bases[at]
		earlier := slices.Index(s.stages[:at], strings.ToLower(base))
		if earlier < 0 {
			return base
		}
		at = earlier
	}
	return ""
}

// Rewrite returns the Dockerfile with every reference that replace knows replaced, and nothing else changed.
func Rewrite(contents string, args map[string]*string, replace func(ref string) (string, bool)) string {
	lines := strings.SplitAfter(contents, "\n")
	for _, u := range uses(contents, args) {
		if to, ok := replace(u.ref); ok && to != u.ref {
			u.edit(lines, to)
		}
	}
	return strings.Join(lines, "")
}

// use is a place in a Dockerfile that names an image.
type use struct {
	ref         string
	first, last int // lines, from 0
	// The token is before, word and after; word is the part that stands for the image itself.
	before, word, after string
}

// edit replaces the image in the lines.
func (u use) edit(lines []string, to string) {
	for i := u.first; i <= u.last && i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "#") {
			continue
		}
		for _, quote := range []string{"", `"`, `'`} {
			old := u.before + quote + u.word + quote + u.after
			if at := findWord(lines[i], old); at >= 0 {
				lines[i] = lines[i][:at] + u.before + to + u.after + lines[i][at+len(old):]
				return
			}
		}
	}
}

// findWord returns the index of word in line between blanks, or -1.
func findWord(line, word string) int {
	blank := func(c byte) bool { return strings.IndexByte(" \t\r\n\v\f", c) >= 0 }
	for from := 0; ; {
		at := strings.Index(line[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(word)
		begins, ends := at == 0 || blank(line[at-1]), end == len(line) || blank(line[end])
		if begins && ends {
			return at
		}
		from = at + 1
	}
}

// uses finds all places that name images, in order.
func uses(contents string, args map[string]*string) []use { return scanned(contents, args).uses }

// scanned walks over a Dockerfile; one that cannot be parsed is empty.
func scanned(contents string, args map[string]*string) scan {
	parsed, err := parser.Parse(strings.NewReader(contents))
	if err != nil {
		return scan{}
	}
	s := scan{lex: shell.NewLex(parsed.EscapeToken), args: args, env: map[string]string{}, local: map[string]string{}}
	for _, n := range parsed.AST.Children {
		s.node(n)
	}
	return s
}

// scan walks over a Dockerfile.
type scan struct {
	lex  *shell.Lex
	args map[string]*string
	// env are the ARGs before the first stage, local are the ARGs of the stages. FROM uses env; for an argument that is missing there
	// it uses the ARG of an earlier stage, where Docker itself would have no value.
	env    map[string]string
	local  map[string]string
	stages []string
	// bases are the images or stages that the stages are built on; empty for scratch.
	bases []string
	uses  []use
}

func (s *scan) node(n *parser.Node) {
	switch strings.ToLower(n.Value) {
	case "arg":
		if len(s.stages) == 0 {
			s.arg(n, s.env)
		} else {
			s.arg(n, s.local)
		}
	case "from":
		s.from(n)
	case "copy", "add":
		for _, flag := range n.Flags {
			if ref, ok := strings.CutPrefix(flag, "--from="); ok {
				s.add(n, ref, use{before: "--from=", word: ref})
			}
		}
	case "run":
		for _, flag := range n.Flags {
			if strings.HasPrefix(flag, "--mount=") {
				s.mount(n, flag)
			}
		}
	}
}

// arg adds an argument to a scope: the value that the build passes, otherwise the default.
func (s *scan) arg(n *parser.Node, scope map[string]string) {
	for word := n.Next; word != nil; word = word.Next {
		name, value, hasDefault := strings.Cut(word.Value, "=")
		given, passed := s.args[name]
		switch {
		case passed && given != nil:
			scope[name] = *given
		case passed && isSet(name):
			scope[name] = os.Getenv(name)
		case hasDefault:
			scope[name] = s.expand(value)
		}
	}
}

func isSet(name string) bool {
	_, ok := os.LookupEnv(name)
	return ok
}

// expand fills in arguments, and returns the word unchanged if that fails.
func (s *scan) expand(word string) string {
	env := make([]string, 0, len(s.env)+len(s.local))
	for k, v := range s.env {
		env = append(env, k+"="+v)
	}
	for k, v := range s.local {
		if _, global := s.env[k]; !global {
			env = append(env, k+"="+v)
		}
	}
	out, _, err := s.lex.ProcessWord(word, shell.EnvsFromSlice(env))
	if err != nil {
		return word
	}
	return out
}

func (s *scan) from(n *parser.Node) {
	if n.Next == nil {
		return
	}
	word := n.Next.Value
	ref := s.expand(word)
	if ref == "scratch" {
		ref = ""
	}
	s.add(n, ref, use{word: word})
	name := ""
	if as := n.Next.Next; as != nil && strings.EqualFold(as.Value, "as") && as.Next != nil {
		name = strings.ToLower(as.Next.Value)
	}
	s.stages, s.bases = append(s.stages, name), append(s.bases, ref)
}

// mount parses a flag such as --mount=type=bind,from=tools,target=/tools.
func (s *scan) mount(n *parser.Node, flag string) {
	fields := strings.Split(strings.TrimPrefix(flag, "--mount="), ",")
	for i, field := range fields {
		ref, ok := strings.CutPrefix(field, "from=")
		if !ok {
			continue
		}
		before := "--mount=" + strings.Join(append(slices.Clone(fields[:i]), "from="), ",")
		after := strings.Join(append([]string{""}, fields[i+1:]...), ",")
		s.add(n, ref, use{before: before, word: ref, after: after})
	}
}

// add notes a use, except if ref names a stage or is not a reference.
func (s *scan) add(n *parser.Node, ref string, u use) {
	if ref == "" || slices.Contains(s.stages, strings.ToLower(ref)) {
		return
	}
	if _, err := strconv.Atoi(ref); err == nil && u.before != "" {
		return // the number of a stage
	}
	if _, err := repository(ref); err != nil {
		return
	}
	u.ref, u.first, u.last = ref, n.StartLine-1, n.EndLine-1
	s.uses = append(s.uses, u)
}
