package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/client/objects"
)

// completionTime bounds how long a shell waits after Tab.
const completionTime = time.Second

// completion is what cobra calls to complete a word.
type completion = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// completionContext bounds a completion; a command that is not run has no context of its own.
func completionContext(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithTimeout(ctx, completionTime)
}

// completing asks the session that is meant. A session that does not answer completes nothing.
func (f *targetFlags) completing(cmd *cobra.Command, ask func(ctx context.Context, s *objects.Session) []string) []string {
	ctx, cancel := completionContext(cmd)
	defer cancel()
	f.settle(cmd)
	c, err := f.find(ctx)
	if err != nil {
		return nil
	}
	s, err := objects.Open(ctx, c.RESTConfig(), io.Discard)
	if err != nil {
		return nil
	}
	return ask(ctx, s)
}

// complete completes kinds, names behind a kind, and KIND/NAME.
func (f *objectFlags) complete(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(args) == 0 && !strings.Contains(word, "/") {
		words, _ := f.completeKind(cmd, args, word)
		return words, directive
	}
	return f.target.completing(cmd, func(ctx context.Context, s *objects.Session) []string {
		if len(args) > 0 && !strings.Contains(args[0], "/") {
			kind, _, _ := strings.Cut(args[0], ",")
			return matching(namesOf(ctx, s, kind), "", word, args)
		}
		kind, _, slash := strings.Cut(word, "/")
		if !slash {
			return kindNames(s, word, "/")
		}
		return matching(namesOf(ctx, s, kind), kind+"/", word, args)
	}), directive
}

// completeKind completes the name of a kind; of several, separated by commas, the last.
func (f *objectFlags) completeKind(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.target.completing(cmd, func(_ context.Context, s *objects.Session) []string { return kindNames(s, word, "") }), cobra.ShellCompDirectiveNoFileComp
}

// completeNames completes the names of objects of one kind.
func (f *objectFlags) completeNames(kind string) completion {
	return func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return f.target.completing(cmd, func(ctx context.Context, s *objects.Session) []string {
			return matching(namesOf(ctx, s, kind), "", word, nil)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeResources completes the names of resources.
func (f *targetFlags) completeResources(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.completing(cmd, func(ctx context.Context, s *objects.Session) []string {
		return matching(namesOf(ctx, s, "uiresources"), "", word, args)
	}), cobra.ShellCompDirectiveNoFileComp
}

func namesOf(ctx context.Context, s *objects.Session, kind string) []string {
	k, err := s.Kind(kind)
	if err != nil {
		return nil
	}
	names, err := s.Names(ctx, k)
	if err != nil {
		return nil
	}
	return names
}

// kindNames are the kinds that a word may become: each by its plural, with the group where another kind comes first.
func kindNames(s *objects.Session, word, suffix string) (out []string) {
	done := ""
	if i := strings.LastIndex(word, ","); i >= 0 {
		done, word = word[:i+1], word[i+1:]
	}
	for _, k := range s.Kinds() {
		name := k.GVR.Resource
		if first, err := s.Kind(name); err == nil && first.GVR != k.GVR {
			name = k.String()
		}
		if strings.HasPrefix(name, word) {
			out = append(out, done+name+suffix)
		}
	}
	return out
}

// matching returns the names that begin like a word and are not on the command line already, with a prefix.
func matching(names []string, prefix, word string, args []string) (out []string) {
	there := map[string]bool{}
	for _, a := range args {
		there[a] = true
	}
	for _, n := range names {
		if n = prefix + n; strings.HasPrefix(n, word) && !there[n] {
			out = append(out, n)
		}
	}
	return out
}

// completeSessions completes the names of running sessions.
func completeSessions(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := completionContext(cmd)
	defer cancel()
	all, err := registry().List(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return matching(names, "", word, nil), cobra.ShellCompDirectiveNoFileComp
}

// completeDeclared completes the names of resources that the Tiltfile declared when a session ran it last. The Tiltfile is
// not evaluated: pressing Tab must not run its commands.
func (f *projectFlags) completeDeclared(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	path, err := f.path()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	p, _ := remembered().Of(path)
	return matching(p.Resources, "", word, args), cobra.ShellCompDirectiveNoFileComp
}
