package flags

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

// Completion is a function that cobra calls to complete a word.
type Completion = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// CompletionContext returns a context that bounds a completion. A command that does not run has no context of its own.
func CompletionContext(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithTimeout(ctx, completionTime)
}

// Completing requests words from the chosen session. A session that does not answer completes nothing.
func (f *Session) Completing(cmd *cobra.Command, ask func(ctx context.Context, s *objects.Client) []string) []string {
	ctx, cancel := CompletionContext(cmd)
	defer cancel()
	f.Settle(cmd)
	c, err := f.Find(ctx)
	if err != nil {
		return nil
	}
	s, err := objects.Open(ctx, c.RESTConfig(), io.Discard)
	if err != nil {
		return nil
	}
	return ask(ctx, s)
}

// CompleteResources completes the names of resources.
func (f *Session) CompleteResources(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.Completing(cmd, func(ctx context.Context, s *objects.Client) []string {
		return Matching(NamesOf(ctx, s, "uiresources"), "", word, args)
	}), cobra.ShellCompDirectiveNoFileComp
}

// NamesOf returns the names of a session's objects of a kind, none if they are unknown.
func NamesOf(ctx context.Context, s *objects.Client, kind string) []string {
	k, err := s.Kind(kind)
	if err != nil {
		return nil
	}
	names, err := s.Names(ctx, objects.Target{Kind: k})
	if err != nil {
		return nil
	}
	return names
}

// Matching returns, with a prefix, the names that begin with word and that args do not have yet.
func Matching(names []string, prefix, word string, args []string) (out []string) {
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
	ctx, cancel := CompletionContext(cmd)
	defer cancel()
	all, err := Registry().List(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return Matching(names, "", word, nil), cobra.ShellCompDirectiveNoFileComp
}

// CompleteDeclared completes the names of resources that the Tiltfile declared when a session last ran it. The Tiltfile is
// not evaluated: pressing Tab must not run its commands.
func (f *Project) CompleteDeclared(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	path, err := "", f.follow(cmd)
	if err == nil {
		path, err = f.Path()
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	p, _ := Remembered().Of(path)
	return Matching(p.Resources, "", word, args), cobra.ShellCompDirectiveNoFileComp
}

// completeClusters completes the names of clusters that the Tiltfile declared when a session last ran it.
func (f *Project) completeClusters(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	path, err := "", f.follow(cmd)
	if err == nil {
		path, err = f.Path()
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	p, _ := Remembered().Of(path)
	for _, c := range p.Clusters {
		names = append(names, c.Name)
	}
	return Matching(names, "", word, nil), cobra.ShellCompDirectiveNoFileComp
}

// CompleteSwitches completes the names of resources that can be enabled and disabled: all but the Tiltfile.
func (f *Session) CompleteSwitches(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	names, directive := f.CompleteResources(cmd, args, word)
	return slices.DeleteFunc(names, func(n string) bool { return n == string(model.TiltfileName) }), directive
}

// CompleteLabels completes the labels of resources.
func (f *Session) CompleteLabels(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := CompletionContext(cmd)
	defer cancel()
	f.Settle(cmd)
	session, err := f.Find(ctx)
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
	return Matching(slices.Compact(labels), "", word, nil), cobra.ShellCompDirectiveNoFileComp
}
