package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
)

// TestHoldReasons checks that each reason why a resource waits has words, and that the API documents all reasons, and no other.
func TestHoldReasons(t *testing.T) {
	all := holdReasons(t)
	for _, r := range all {
		if (buildcontrol.Hold{Reason: buildcontrol.HoldReason(r)}).String() == "" {
			t.Errorf("%s has no words: buildcontrol/reason.go", r)
		}
	}
	without := func(left ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(r string) bool { return slices.Contains(left, r) })
	}
	for key, want := range map[string][]string{
		"pkg/api.HoldEvent.Reason":                       without("building", "tearing-down"), // neither is a wait
		"pkg/api/v1alpha1.UIResourceStateWaiting.Reason": without("building"),
	} {
		got := documentedReasons(t, key)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the comment of %s (-reasons +documented; make generate reads it):\n%s", key, diff)
		}
	}
}

// holdReasons returns the values of buildcontrol.HoldReason in the source, sorted.
func holdReasons(t *testing.T) (all []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../loop/buildcontrol/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := v.Type.(*ast.Ident); ok && of.Name == "HoldReason" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return false
	})
	if len(all) == 0 {
		t.Fatal("no reasons found")
	}
	slices.Sort(all)
	return all
}

var reasonList = regexp.MustCompile(`^Reason is one of ([a-z-]+(?:(?:, | and )[a-z-]+)*)[;,]`)

func documentedReasons(t *testing.T, key string) []string {
	for line := range strings.Lines(docsText) {
		text, of := strings.CutPrefix(line, key+"\t")
		if !of {
			continue
		}
		list := reasonList.FindStringSubmatch(text)
		if list == nil {
			t.Fatalf("%s lists no reasons: %s", key, text)
		}
		return strings.Split(strings.ReplaceAll(list[1], " and ", ", "), ", ")
	}
	t.Fatalf("%s has no documentation", key)
	return nil
}
