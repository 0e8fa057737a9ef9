package buildanddeploy

import (
	"fmt"
	"os"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Declare begins the deployment of an evaluation of the Tiltfile: changes belong to its revision from now on. It sets the delete commands that
// the Tiltfile declares now, for recorded ones that have lost their arguments or the values of their variables. read are the files that the
// evaluation has read, as model.Tiltfile.Read has them.
func (c *Cluster) Declare(manifests []model.Manifest, read map[string]uint64) {
	declared := map[model.ManifestName]model.Cmd{}
	for _, m := range manifests {
		if d := m.CustomDeploy(); d != nil {
			declared[m.Name] = d.Delete
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.declared = declared
	number := 1
	if e := c.evaluation.Load(); e != nil {
		number += e.number
	}
	c.evaluation.Store(c.newEvaluation(number, read))
}

// completed returns a recorded command with all its arguments and the values of all its variables. Missing arguments come from the
// Tiltfile, missing values from the Tiltfile or hone's environment. Without them the command must not run: it might delete
// something else. kind is the name of the command in messages.
func completed(kind string, name model.ManifestName, declared, cmd model.Cmd) (model.Cmd, error) {
	if cmd.Empty() {
		if declared.Empty() {
			return cmd, problem.New(fmt.Sprintf("hone no longer knows the %s of %s: the key of its records is lost", kind, name),
				"declare the resource in the Tiltfile again, or take it down by hand")
		}
		cmd.Argv = declared.Argv
	}
	var env, missing []string
	for _, kv := range cmd.Env {
		if strings.Contains(kv, "=") {
			env = append(env, kv)
			continue
		}
		value, ok := lookup(declared.Env, kv)
		if !ok {
			value, ok = os.LookupEnv(kv)
		}
		if !ok {
			missing = append(missing, kv)
			continue
		}
		env = append(env, kv+"="+value)
	}
	if len(missing) > 0 {
		var set strings.Builder
		for _, m := range missing {
			set.WriteString(m + "=… ")
		}
		return cmd, problem.New(fmt.Sprintf("%s %s needs values that hone no longer knows: %s", kind, hiding(cmd).Text(cmd.Quoted()), strings.Join(missing, ", ")),
			"declare the resource in the Tiltfile again, or give the values: "+set.String()+"hone down")
	}
	cmd.Env = env
	return cmd, nil
}

// lookup returns the value of a variable; the last one counts.
func lookup(env []string, variable string) (value string, ok bool) {
	for _, kv := range env {
		if v, found := strings.CutPrefix(kv, variable+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}
