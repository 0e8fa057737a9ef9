package buildanddeploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/update/verdict"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// localGrace is the time that a local command has to end after the request to end.
	localGrace = 5 * time.Second
	// outputSettle bounds how long a command that has ended still counts as running, until the changes of the files
	// that it wrote are known, before dependent resources begin.
	outputSettle = 250 * time.Millisecond
)

// Local runs the command of a local resource.
type Local struct {
	// DownCommands record the down commands.
	DownCommands *DownCommands
	// Verdicts keeps the verdicts of tests; nil for none.
	Verdicts *verdict.Memory
}

var _ BuildAndDeployer = Local{}

// Name implements BuildAndDeployer.
func (Local) Name() string { return "local" }

// BuildAndDeploy implements BuildAndDeployer. The down command is recorded before anything runs that it has to undo.
func (l Local) BuildAndDeploy(ctx context.Context, req Request) (result Result, err error) {
	if !req.Manifest.IsLocal() {
		return Result{}, &Declined{}
	}
	r := &commands{downCommands: l.DownCommands, declared: req.Declared, env: req.Env, items: []command{{manifest: req.Manifest, log: req.Log, run: func(ctx context.Context) error {
		if req.Test != nil {
			result, err = l.test(ctx, req)
			return err
		}
		if result, err = l.run(ctx, req); err == nil && !req.Manifest.Local.Update.Empty() {
			settled(ctx, req)
		}
		return err
	}}}}
	op, err := operation.New([]operation.Node{{Name: "command of " + string(req.Manifest.Name), Runtime: r, Resource: req.Manifest.Name}})
	if err != nil {
		return Result{}, err
	}
	errs, err := op.Apply(ctx, 1)
	return result, cmp.Or(err, cmp.Or(errs...))
}

// run runs the command.
func (Local) run(ctx context.Context, req Request) (Result, error) {
	cmd := req.Manifest.Local.Update
	if cmd.Empty() {
		return Result{Deployed: true}, nil
	}
	if !cmd.EchoOff {
		logstore.Infof(req.Log, "Running cmd: %s", cmd)
	}
	req.Commit()
	req.Progress("local", "running "+cmd.String(), model.BuildProgress{Kind: model.StepRun})
	began := time.Now()
	var stdout io.Writer = logstore.WriterAt(req.Log, logstore.LevelInfo)
	if req.Test != nil {
		stdout = io.MultiWriter(stdout, &req.Test.output)
	}
	err := process.Run(ctx, process.Command{
		Cmd: cmd, ExtraEnv: req.Env, Grace: localGrace,
		Stdout: stdout, Stderr: logstore.WriterAt(req.Log, logstore.LevelInfo),
	})
	logstore.Flush(req.Log) // a last line without a line feed precedes the messages about the command
	result := Result{Steps: []model.BuildStep{{Kind: model.StepRun, Took: time.Since(began)}}}
	var exit *process.ExitError
	switch {
	case err == nil:
		result.Deployed = true
		return result, nil
	case ctx.Err() != nil:
		return result, ctx.Err()
	case errors.As(err, &exit):
		return result, fmt.Errorf("command %s failed: %w", cmd.Quoted(), err)
	}
	return result, err
}

// settled waits until the changes of files made so far are known, but not for long.
func settled(ctx context.Context, req Request) {
	if req.Settled == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, outputSettle)
	defer cancel()
	req.Settled(ctx)
}
