package buildanddeploy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// deleteLimit is the time limit of a delete command, or a down command: it often waits until the objects are gone.
const deleteLimit = 5 * time.Minute

// customDeploy deploys a resource with a command of the user. The ledger records it before the command runs, so that the
// resource can be taken down whatever happens to the command.
func (c *Cluster) customDeploy(ctx context.Context, req Request, images map[string]model.ImageResult) ([]model.AppliedObject, error) {
	name, d := req.Manifest.Name, req.Manifest.K8s.CustomDeploy
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	if req.Force {
		if err := c.runDelete(ctx, name, req.Log); err != nil {
			return nil, err
		}
	}
	del := inSameCluster(d.Delete, req.Env)
	if err := memory.RecordCommand(name, del); err != nil {
		return nil, err
	}
	run, unreadable := runOf(ctx, d, images) // before the command, which may write there
	out, err := runApply(ctx, req, images)
	if err != nil {
		return nil, err
	}
	objects, err := printedObjects(out)
	if err != nil {
		return nil, fmt.Errorf("apply command %s: %w", d.Apply.Quoted(), err)
	}
	applied, err := c.applier.Find(ctx, objects, req.Namespace, req.UpsertTimeout)
	if err != nil {
		return nil, err
	}
	for i := range applied {
		applied[i].Foreign, applied[i].TemplateHash = true, ""
	}
	reportFound(req.Log, applied)
	if err := c.collect(ctx, memory, req, applied, del); err != nil {
		logstore.Warnf(req.Log, "WARNING: %v", err) // the next deploy tries again
	}
	if unreadable == nil {
		if err := memory.SetRan(name, run); err != nil { // it only explains
			logstore.Warnf(req.Log, "WARNING: %v", err)
		}
	}
	if err := c.replaceKept(ctx, req, images, applied); err != nil {
		return applied, err
	}
	return applied, c.replaceLeft(ctx, req, applied)
}

// inSameCluster makes a command that a later session may run use the cluster and namespace of this session, even if the user's
// current ones have changed.
func inSameCluster(cmd model.Cmd, env []string) model.Cmd {
	for _, kv := range env {
		if strings.HasPrefix(kv, "KUBECONFIG=") {
			cmd.Env = append([]string{kv}, cmd.Env...) // the command's own wins
		}
	}
	return cmd
}

func reportFound(log logstore.Logger, applied []model.AppliedObject) {
	var b strings.Builder
	for _, o := range applied {
		fmt.Fprintf(&b, "       → %s:%s\n", o.Name, strings.ToLower(o.Kind))
	}
	log.Write(logstore.LevelInfo, "Objects applied to cluster:\n"+b.String())
}

// runApply runs the apply command and returns its standard output. Its standard error goes to the log.
func runApply(ctx context.Context, req Request, images map[string]model.ImageResult) ([]byte, error) {
	d, limit := req.Manifest.K8s.CustomDeploy, req.UpsertTimeout
	if limit <= 0 {
		limit = model.DefaultUpdateSettings.UpsertTimeout
	}
	cmd := d.Apply
	// The user's own variables come last, so that they win.
	cmd.Env = append(imagebuild.ImageDepEnv(d.ImageDeps, images, func(r model.ImageResult) string { return r.Cluster }), cmd.Env...)
	if !cmd.EchoOff {
		logstore.Infof(req.Log, "Running cmd: %s", cmd)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	err := process.Run(bounded, process.Command{Cmd: cmd, ExtraEnv: req.Env, Grace: localGrace, Plain: true,
		Stdout: &out, Stderr: logstore.WriterAt(req.Log, logstore.LevelInfo)})
	var exit *process.ExitError
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(bounded.Err(), context.DeadlineExceeded):
		return nil, problem.New(fmt.Sprintf("apply command %s did not end within %s", cmd.Quoted(), limit),
			fmt.Sprintf("if it is merely slow, give it more time in the Tiltfile:\nupdate_settings(k8s_upsert_timeout_secs=%d)", 2*max(int(limit/time.Second), 1)))
	case errors.As(err, &exit):
		p := problem.Wrap(err, fmt.Sprintf("apply command %s failed", cmd.Quoted()), "see its output above; it runs in "+cmd.Dir)
		p.Detail = excerpt(out.Bytes())
		return nil, p
	}
	return nil, err
}

// printedMend explains how a command reports the objects that it has applied.
const printedMend = "the command must print the objects that it applied, and nothing else, to standard output as YAML:\n" +
	"kubectl apply -o yaml -f app.yaml\n" +
	"messages for people go to standard error: echo deploying >&2"

// printedObjects parses the objects that an apply command printed, with lists expanded.
func printedObjects(out []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(out)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read its output: %w", err)
		}
		more, err := documentObjects(doc)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	if len(objects) == 0 {
		return nil, problem.New("it printed no object", printedMend)
	}
	return objects, nil
}

func documentObjects(doc []byte) ([]*unstructured.Unstructured, error) {
	var v any
	if err := yaml.Unmarshal(doc, &v); err != nil {
		p := problem.Wrap(err, "it printed invalid YAML", printedMend)
		p.Detail = excerpt(doc)
		return nil, p
	}
	if v == nil {
		return nil, nil
	}
	fields, ok := v.(map[string]any)
	if !ok {
		p := problem.New("it printed something that is not a Kubernetes object", printedMend)
		p.Detail = excerpt(doc)
		return nil, p
	}
	u := &unstructured.Unstructured{Object: fields}
	items, isList := fields["items"].([]any)
	if isList && strings.HasSuffix(u.GetKind(), "List") {
		return listedObjects(u.GetKind(), items)
	}
	if u.GetKind() == "" || u.GetAPIVersion() == "" || u.GetName() == "" {
		return nil, problem.New(fmt.Sprintf("it printed an object without %s", firstMissing(u)), printedMend)
	}
	return []*unstructured.Unstructured{u}, nil
}

func listedObjects(kind string, items []any) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for i, item := range items {
		fields, ok := item.(map[string]any)
		u := &unstructured.Unstructured{Object: fields}
		if !ok || slices.Contains([]string{u.GetKind(), u.GetAPIVersion(), u.GetName()}, "") {
			return nil, problem.New(fmt.Sprintf("item %d of the %s that it printed is not a complete object", i+1, kind), printedMend)
		}
		out = append(out, u)
	}
	return out, nil
}

func firstMissing(u *unstructured.Unstructured) string {
	switch {
	case u.GetKind() == "":
		return "kind"
	case u.GetAPIVersion() == "":
		return "apiVersion"
	}
	return "metadata.name"
}

// excerpt is the beginning of a command's output, for a message.
func excerpt(out []byte) string {
	const lines, width = 5, 200
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	shown := all[:min(len(all), lines)]
	for i, l := range shown {
		shown[i] = words.Clip(l, width)
	}
	text := strings.Join(shown, "\n")
	if len(all) > lines {
		text += "\n…"
	}
	return text
}

// runDelete runs the delete command that the ledger holds for a resource, if any. When it has succeeded, the ledger
// forgets the command and the objects that it was for.
func (c *Cluster) runDelete(ctx context.Context, name model.ManifestName, log logstore.Logger) error {
	memory, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	declared := c.declared[name]
	c.mu.Unlock()
	return runRecorded(ctx, memory.Ledger, deleteCommand, name, declared, c.env, log)
}

// deleteCommand is the name in messages of the command that deletes the objects which a command of the user has deployed.
const deleteCommand = "delete command"

// runRecorded runs the command that a ledger holds for a resource, if any. When it has succeeded, the ledger forgets it. kind is
// the name of the command in messages, and declared the command that the Tiltfile declares now.
func runRecorded(ctx context.Context, records *ledger.Ledger, kind string, name model.ManifestName, declared model.Cmd, env []string, log logstore.Logger) error {
	commands, err := records.Commands()
	if err != nil {
		return err
	}
	cmd, ok := commands[name]
	if !ok {
		return nil
	}
	cmd.Secrets = slices.Concat(cmd.Secrets, declared.Secrets)
	if cmd, err = completed(kind, name, declared, cmd); err != nil {
		return err
	}
	if err := undo(ctx, kind, cmd, env, log); err != nil {
		return err
	}
	return records.ForgetCommand(name)
}

// hiding removes the secrets of a command that may no longer be known: the Tiltfile may have changed since it was recorded.
func hiding(cmd model.Cmd) logstore.Scrubber { return logstore.NewScrubber(cmd.Secrets) }

// shown returns a recorded command for messages.
func shown(cmd model.Cmd) string { return hiding(cmd).Text(cmd.String()) }

// undo runs a command for a limited time.
func undo(ctx context.Context, kind string, cmd model.Cmd, env []string, log logstore.Logger) error {
	hide := hiding(cmd)
	log = hide.Logger(log)
	if !cmd.EchoOff {
		logstore.Infof(log, "Running cmd: %s", cmd)
	}
	bounded, cancel := context.WithTimeout(ctx, deleteLimit)
	defer cancel()
	out := logstore.WriterAt(log, logstore.LevelInfo)
	err := process.Run(bounded, process.Command{Cmd: cmd, ExtraEnv: env, Grace: localGrace, Stdout: out, Stderr: out})
	logstore.Flush(log)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		return fmt.Errorf("%s %s did not end within %s", kind, hide.Text(cmd.Quoted()), deleteLimit)
	}
	mend := "see its output above; hone down tries it again. It must succeed, too, when there is nothing to undo"
	if kind == deleteCommand {
		mend = "see its output above; the next hone down tries it again. A delete command must also succeed\n" +
			"when there is nothing to delete, as kubectl delete --ignore-not-found does"
	}
	return problem.Wrap(err, fmt.Sprintf("%s %s failed", kind, hide.Text(cmd.Quoted())), mend)
}
