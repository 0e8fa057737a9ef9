package up

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
)

// planKind and planFormat mark the files of plans.
const (
	planKind   = "hone plan"
	planFormat = 1
)

// planFile is a plan on disk, with all that is needed to carry it out. Values of Secrets are not in it.
type planFile struct {
	Kind   string `json:"kind"`
	Format int    `json:"format"`
	// Args are the arguments of the command line: names, and arguments of the Tiltfile.
	Args []string `json:"args,omitempty"`
	// Namespace, Adopt, Prune and NoPrune are the flags of these names.
	Namespace string   `json:"namespace,omitempty"`
	Adopt     bool     `json:"adopt,omitempty"`
	Prune     string   `json:"prune,omitempty"`
	NoPrune   bool     `json:"noPrune,omitempty"`
	Plan      api.Plan `json:"plan"`
}

// writePlanFile writes a plan to a file. Texts that must not be shown do not reach it.
func writePlanFile(path string, f planFile, secrets *command.Secrets) error {
	if path == "" {
		return problem.New("the file for the plan has no name", "name it: hone preview -o plan=next.plan")
	}
	if n := f.Plan.Summary[api.ActionBlocked]; n > 0 {
		// The plan itself shows the blocked steps, and why.
		f.Plan.Steps = slices.DeleteFunc(slices.Clone(f.Plan.Steps), func(s api.PlanStep) bool { return s.Action != api.ActionBlocked })
		return problem.New("no plan was written: it would be refused\n"+command.PlanText(f.Plan), "fix what is blocked; hone preview shows the whole plan")
	}
	f.Kind, f.Format = planKind, planFormat
	raw, err := document(f, secrets)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, raw, 0o600); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// document returns a value as JSON, without texts that must not be shown.
func document(v any, secrets *command.Secrets) ([]byte, error) {
	var b bytes.Buffer
	if err := command.WriteJSON(&b, v); err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	return []byte(secrets.Text(b.String())), nil
}

// readPlanFile returns the plan that the first argument names, and the other arguments; nil if it names a resource. A file is a
// plan if it says so.
func readPlanFile(args []string) (*planFile, []string, error) {
	if len(args) == 0 {
		return nil, args, nil
	}
	path := args[0]
	raw, err := os.ReadFile(path)
	if err != nil {
		if looksLikeFile(path) && errors.Is(err, fs.ErrNotExist) {
			return nil, nil, problem.New("there is no plan "+path, "write it: hone preview -o plan="+path)
		}
		if looksLikeFile(path) {
			return nil, nil, fmt.Errorf("read the plan: %w", err)
		}
		return nil, args, nil
	}
	var f planFile
	if json.Unmarshal(raw, &f) != nil || f.Kind != planKind {
		if looksLikeFile(path) {
			return nil, nil, problem.New(path+" is not a plan", "write one: hone preview -o plan=FILE")
		}
		return nil, args, nil
	}
	if f.Format != planFormat {
		return nil, nil, problem.New(fmt.Sprintf("the plan %s has format %d, but this version of hone supports only %d", path, f.Format, planFormat),
			"write it with this version: hone preview -o plan="+path)
	}
	return &f, args[1:], nil
}

// looksLikeFile reports whether an argument can only be meant as a plan.
func looksLikeFile(arg string) bool {
	return strings.ContainsRune(arg, filepath.Separator) || slices.Contains([]string{".plan", ".json"}, filepath.Ext(arg))
}

// stale returns the differences between a new plan and the shown plan, as lines; none if the new plan does the same. With some, the
// new plan may leave steps out.
func stale(shown, now api.Plan, some bool, secrets *command.Secrets) ([]string, error) {
	text := func(s api.PlanStep) (string, error) {
		raw, err := document(s, secrets)
		return string(raw), err
	}
	before := map[api.PlanObject]string{}
	for _, s := range shown.Steps {
		was, err := text(s)
		if err != nil {
			return nil, err
		}
		before[s.Object] = was
	}
	var lines []string
	for _, s := range now.Steps {
		is, err := text(s)
		if err != nil {
			return nil, err
		}
		was, ok := before[s.Object]
		delete(before, s.Object)
		switch {
		case !ok:
			lines = append(lines, fmt.Sprintf("%s: %s, and it was not in the plan", view.PlanObject(s.Object), s.Action))
		case was != is:
			lines = append(lines, fmt.Sprintf("%s: %s, in another way than the plan shows", view.PlanObject(s.Object), s.Action))
		}
	}
	if !some {
		for _, s := range shown.Steps {
			if _, left := before[s.Object]; left {
				lines = append(lines, fmt.Sprintf("%s: the plan says %s, and nothing would happen now", view.PlanObject(s.Object), s.Action))
			}
		}
	}
	return lines, nil
}
