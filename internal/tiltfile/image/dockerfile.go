package image

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

// dockerfileScan collects the references to other images in a Dockerfile.
type dockerfileScan struct {
	lex *shell.Lex
	// args are the build args before the first stage, which FROM uses. local are the build args of the stages: within
	// stages they take precedence, and FROM uses them for args not declared before the first stage, which Docker would
	// leave empty.
	args   map[string]string
	local  map[string]string
	given  map[string]*string
	lookup func(string) string
	stages []string
	found  []string
}

// knownBaseImages returns the references that a Dockerfile builds on, in FROM, COPY --from and RUN --mount=from, with build
// args put in. Names of stages are left out. A Dockerfile that cannot be parsed has none: the builder, whose syntax
// may be newer than ours, reports the error. Build args that take their value from the environment take it from the evaluation's.
func knownBaseImages(e *eval.Evaluation, contents string, buildArgs map[string]*string) []string {
	ast, err := eval.Remembered(e, memo.Key{Kind: memo.Dockerfile, Content: contents}, func() (*parser.Result, error) {
		return parser.Parse(strings.NewReader(contents))
	})
	if err != nil {
		return nil
	}
	return imagesIn(ast, buildArgs, e.Env.Getenv)
}

// imagesIn collects the references of a parsed Dockerfile. It does not change ast.
func imagesIn(ast *parser.Result, buildArgs map[string]*string, lookup func(string) string) []string {
	s := &dockerfileScan{lex: shell.NewLex(ast.EscapeToken), args: map[string]string{}, local: map[string]string{}, given: buildArgs, lookup: lookup}
	for _, node := range ast.AST.Children {
		s.instruction(node)
	}
	return s.found
}

// instruction records the build args that an instruction declares, and the images that it refers to.
func (s *dockerfileScan) instruction(n *parser.Node) {
	switch strings.ToLower(n.Value) {
	case "arg":
		for a := n.Next; a != nil; a = a.Next {
			s.arg(a.Value)
		}
	case "from":
		s.from(n)
	case "copy", "add":
		for _, f := range n.Flags {
			if ref, ok := strings.CutPrefix(f, "--from="); ok {
				s.add(s.expand(ref, s.args, s.local))
			}
		}
	case "run":
		for _, f := range n.Flags {
			mount, ok := strings.CutPrefix(f, "--mount=")
			if !ok {
				continue
			}
			for field := range strings.SplitSeq(mount, ",") {
				if ref, ok := strings.CutPrefix(field, "from="); ok {
					s.add(s.expand(ref, s.args, s.local))
				}
			}
		}
	}
}

// arg stores a build arg with its value: the one given, else the default. Within a stage, a redeclaration without a
// default keeps the value.
func (s *dockerfileScan) arg(decl string) {
	name, def, hasDefault := strings.Cut(decl, "=")
	scope := s.args
	if len(s.stages) > 0 {
		scope = s.local
	}
	if given, ok := s.given[name]; ok {
		if given != nil {
			scope[name] = *given
			return
		}
		if v := s.lookup(name); v != "" {
			scope[name] = v
			return
		}
	}
	if hasDefault {
		scope[name] = s.expand(def, s.args, s.local)
	}
}

// from records the base image of a stage, and the stage by its name, or by its number if it has no name.
func (s *dockerfileScan) from(n *parser.Node) {
	if n.Next == nil {
		return
	}
	s.add(s.expand(n.Next.Value, s.local, s.args))
	name := strconv.Itoa(len(s.stages))
	if as := n.Next.Next; as != nil && strings.EqualFold(as.Value, "as") && as.Next != nil {
		name = strings.ToLower(as.Next.Value)
	}
	s.stages = append(s.stages, name)
}

// add adds a reference, unless it is the name or the number of an earlier stage.
func (s *dockerfileScan) add(ref string) {
	if n, err := strconv.Atoi(ref); err == nil && n < len(s.stages) {
		return
	}
	none := ref == "" || ref == "scratch"
	if none || slices.Contains(s.stages, strings.ToLower(ref)) || slices.Contains(s.found, ref) {
		return
	}
	s.found = append(s.found, ref)
}

// expand substitutes build args; where several scopes have one, the last scope wins.
func (s *dockerfileScan) expand(word string, scopes ...map[string]string) string {
	values := map[string]string{}
	for _, scope := range scopes {
		maps.Copy(values, scope)
	}
	env := make([]string, 0, len(values))
	for k, v := range values {
		env = append(env, k+"="+v)
	}
	out, _, err := s.lex.ProcessWord(word, shell.EnvsFromSlice(env))
	if err != nil {
		return ""
	}
	return out
}
