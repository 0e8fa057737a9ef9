package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/pkg/model"
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

// completeSwitchable completes the names of resources that can be switched: all but the Tiltfile.
func (f *targetFlags) completeSwitchable(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	names, directive := f.completeResources(cmd, args, word)
	return slices.DeleteFunc(names, func(n string) bool { return n == string(model.TiltfileName) }), directive
}

// completeLabels completes labels that resources have.
func (f *targetFlags) completeLabels(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := completionContext(cmd)
	defer cancel()
	f.settle(cmd)
	session, err := f.find(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	view, err := session.View(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var labels []string
	for _, r := range view.Resources {
		labels = append(labels, r.Labels...)
	}
	slices.Sort(labels)
	return matching(slices.Compact(labels), "", word, nil), cobra.ShellCompDirectiveNoFileComp
}
