package object

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/objects"
)

// complete completes kinds, names behind a kind, and KIND/NAME.
func (f *objectFlags) complete(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(args) == 0 && !strings.Contains(word, "/") {
		words, _ := f.completeKind(cmd, args, word)
		return words, directive
	}
	return f.target.Completing(cmd, func(ctx context.Context, s *objects.Client) []string {
		if len(args) > 0 && !strings.Contains(args[0], "/") {
			kind, _, _ := strings.Cut(args[0], ",")
			return flags.Matching(flags.NamesOf(ctx, s, kind), "", word, args)
		}
		kind, _, slash := strings.Cut(word, "/")
		if !slash {
			return kindNames(s, word, "/")
		}
		return flags.Matching(flags.NamesOf(ctx, s, kind), kind+"/", word, args)
	}), directive
}

// completeKind completes the name of a kind; of several, separated by commas, the last.
func (f *objectFlags) completeKind(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return f.target.Completing(cmd, func(_ context.Context, s *objects.Client) []string { return kindNames(s, word, "") }), cobra.ShellCompDirectiveNoFileComp
}

// completeNames completes the names of objects of one kind.
func (f *objectFlags) completeNames(kind string) flags.Completion {
	return func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return f.target.Completing(cmd, func(ctx context.Context, s *objects.Client) []string {
			return flags.Matching(flags.NamesOf(ctx, s, kind), "", word, nil)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// kindNames returns the kinds that complete a word: each by its plural, with the group if another kind has precedence.
func kindNames(s *objects.Client, word, suffix string) (out []string) {
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
