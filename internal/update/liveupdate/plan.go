package liveupdate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hone-dev/hone/pkg/model"
)

// Input is the input of a plan.
type Input struct {
	Spec model.LiveUpdate
	// Changed are the absolute local paths that were written, created or deleted. Order and duplicates do not matter.
	Changed []string
	// Exists describes a path without following a symbolic link; nil means os.Lstat. Several goroutines may call it.
	Exists func(path string) (fs.FileInfo, error)
	// List names the entries of a folder; nil means os.ReadDir.
	List func(dir string) ([]fs.DirEntry, error)
	// Ignore reports paths that do not concern the container; nil ignores nothing.
	Ignore func(path string) bool
	// NoRestart means that the container's runtime cannot restart a container, as in Kubernetes: a plan with a restart
	// then falls back.
	NoRestart bool
}

// Copy is one file, symbolic link or empty folder to copy into the container.
type Copy struct {
	// Local is the absolute local path. It is empty for a folder that is created for the copies in it.
	Local string
	// Remote is the clean absolute path in the container.
	Remote string
	// IsDir marks a folder, which is created without its entries: these have copies of their own.
	IsDir bool
	// Owner is the owner that the copy gets.
	Owner model.Owner
	// Size is the size of the local file when the plan was made, in bytes.
	Size int64
}

// Plan lists the changes to make in one container, in the order of its fields. The zero value does nothing.
type Plan struct {
	// Copies are sorted as the changed files were, each remote path once, but folders come first. Whatever is at the path in the
	// container gives way: a link or a file to a folder, an empty folder to a file or a link.
	Copies []Copy
	// Deletes are clean absolute remote paths, removed before anything is copied, in an order in which the paths below a
	// path precede it. Each stands for itself: a folder is removed only if it is empty, so that files from elsewhere and
	// mounts stay. A path that is reached through a symbolic link below the sync's destination also stays.
	Deletes []string
	// Runs are the commands whose triggers match, in the order of the Tiltfile.
	Runs []model.Run
	// Restart restarts the container at the end.
	Restart bool
	// RestartProcess restarts the container's process at the end, in the same container. Revive does so only if the
	// process has ended on its own, since even a change that does not require a restart may fix it.
	RestartProcess, Revive bool
	// Files are the local paths that the plan accounts for, those below changed folders included.
	Files []string
	// Fresh means that nothing has been copied into this run of the container yet. The caller that makes the plan sets
	// it.
	Fresh bool
}

// Empty reports whether the plan changes nothing.
func (p Plan) Empty() bool {
	return len(p.Copies)+len(p.Deletes)+len(p.Runs) == 0 && !p.Restart && !p.RestartProcess
}

// Effort is EffortCopy if no command and no restart follows the files, else EffortSteps.
func (p Plan) Effort() model.Effort {
	restarts := p.Restart || p.RestartProcess || p.Revive
	if restarts || len(p.Runs) > 0 {
		return model.EffortSteps
	}
	return model.EffortCopy
}

// Make plans the update for the changed files. A changed folder stands for everything in it. The error is a
// *FallBackError when the change needs a new image, and another error when the spec itself is invalid.
func Make(in Input) (Plan, error) {
	in = in.withDefaults()
	if err := check(in.Spec); err != nil {
		return Plan{}, err
	}
	changes, err := in.expandAll(in.Changed)
	if err != nil {
		return Plan{}, err
	}
	if err := in.stops(changes); err != nil {
		return Plan{}, err
	}
	plan, err := in.assign(changes)
	if err != nil {
		return Plan{}, err
	}
	if len(plan.Files) == 0 {
		return plan, nil
	}
	if in.Spec.RestartContainer && in.NoRestart {
		return Plan{}, &FallBackError{Reason: "restart_container() needs a container engine that can restart containers"}
	}
	plan.Restart = in.Spec.RestartContainer
	return plan, nil
}

// InitialPlan plans the first contact with a container: every file below the syncs is copied and every command whose
// triggers exist runs. Of the changed files, those that are gone are deleted. Paths of fall_back_on do not count, and the container is not
// restarted, since a restart would be another first contact. Its process is restarted, since it started without the files; an updater
// that finds that the container had them all does not restart it. Syncs whose local path does not exist are left out.
func InitialPlan(in Input) (Plan, error) {
	in = in.withDefaults()
	if err := check(in.Spec); err != nil {
		return Plan{}, err
	}
	var roots []string
	for _, s := range in.Spec.Syncs {
		root := filepath.Clean(s.LocalPath)
		if _, err := in.Exists(root); err == nil {
			roots = append(roots, root)
		} else if !gone(err) {
			return Plan{}, &FallBackError{Reason: fmt.Sprintf("cannot read %s: %v", root, err), Path: root}
		}
	}
	m := in.mapper()
	for _, p := range in.Changed {
		_, err := in.Exists(p)
		if _, _, synced := m.remote(p); synced && gone(err) && !in.Ignore(p) {
			roots = append(roots, p)
		}
	}
	changes, err := in.expandAll(roots)
	if err != nil {
		return Plan{}, err
	}
	return in.assign(changes)
}

func (in Input) withDefaults() Input {
	if in.Exists == nil {
		in.Exists = os.Lstat
	}
	if in.List == nil {
		in.List = os.ReadDir
	}
	if in.Ignore == nil {
		in.Ignore = func(string) bool { return false }
	}
	return in
}

func check(spec model.LiveUpdate) error {
	for _, s := range spec.Syncs {
		if !filepath.IsAbs(s.LocalPath) {
			return fmt.Errorf("sync(%q, %q): the local path is not absolute", s.LocalPath, s.RemotePath)
		}
		if !path.IsAbs(s.RemotePath) {
			return fmt.Errorf("sync(%q, %q): the remote path is not absolute", s.LocalPath, s.RemotePath)
		}
	}
	return nil
}

// stops returns a fall back if any change lies below a path of fall_back_on.
func (in Input) stops(changes []change) error {
	for _, c := range changes {
		for _, stop := range in.Spec.StopPaths {
			stop = filepath.Clean(stop)
			if !model.IsChild(stop, c.path) {
				continue
			}
			return &FallBackError{
				Reason: fmt.Sprintf("%s matches fall_back_on %q", relative(filepath.Dir(stop), c.path), filepath.Base(stop)),
				Path:   c.path,
			}
		}
	}
	return nil
}

// assign gives each change its place in the container and picks the commands.
func (in Input) assign(changes []change) (Plan, error) {
	m := in.mapper()
	var plan Plan
	var folders []Copy
	taken := map[string]bool{}
	for _, c := range changes {
		remote, owner, ok := m.remote(c.path)
		switch {
		case !ok && c.kind == folder:
			continue // it has no content of its own; its entries are separate changes
		case !ok:
			return Plan{}, in.noSync(c.path)
		case taken[remote]:
			continue
		case c.kind == missing && remote == "/":
			return Plan{}, &FallBackError{Reason: fmt.Sprintf("%s, which is synced to /, is gone", c.path), Path: c.path}
		case c.kind == missing:
			plan.Deletes = append(plan.Deletes, remote)
		case c.kind == file:
			plan.Copies = append(plan.Copies, Copy{Local: c.path, Remote: remote, Owner: owner, Size: c.size})
		case !in.isRoot(c, remote):
			folders = append(folders, Copy{Local: c.path, Remote: remote, IsDir: true, Owner: owner})
		}
		taken[remote] = true
		plan.Files = append(plan.Files, c.path)
	}
	slices.SortFunc(folders, func(a, b Copy) int { return strings.Compare(a.Remote, b.Remote) })
	plan.Copies = append(folders, plan.Copies...)
	slices.SortFunc(plan.Deletes, func(a, b string) int { return strings.Compare(b, a) })
	if len(plan.Files) > 0 {
		plan.Runs = matching(in.Spec.Runs, plan.Files)
		plan.RestartProcess = slices.ContainsFunc(plan.Files, in.Spec.RestartProcess.Due)
		plan.Revive = in.Spec.RestartProcess != nil
	}
	return plan, nil
}

func (in Input) noSync(changed string) error {
	if len(in.Spec.Syncs) == 0 {
		return &FallBackError{Reason: fmt.Sprintf("%s changed, and live_update has no sync()", filepath.Base(changed)), Path: changed}
	}
	base := filepath.Dir(changed)
	for _, s := range in.Spec.Syncs {
		base = commonFolder(base, filepath.Clean(s.LocalPath))
	}
	return &FallBackError{Reason: relative(base, changed) + " matches no sync()", Path: changed}
}

// matching returns the runs that have no triggers or one that covers a file.
func matching(runs []model.Run, files []string) []model.Run {
	var out []model.Run
	for _, r := range runs {
		hit := slices.ContainsFunc(r.Triggers, func(t string) bool {
			return slices.ContainsFunc(files, func(f string) bool { return model.Triggered(t, f) })
		})
		if hit || len(r.Triggers) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// isRoot reports whether a folder is the destination of a sync, which may be reached through a link of the image, or exists anyway.
func (in Input) isRoot(c change, remote string) bool {
	return remote == "/" || c.kind == folder && slices.ContainsFunc(in.Spec.Syncs, func(s model.Sync) bool { return filepath.Clean(s.LocalPath) == c.path })
}

// gone reports whether err means that a path does not exist.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// relative returns p relative to base, or p itself if base is the root or not an ancestor.
func relative(base, p string) string {
	if base == filepath.Dir(base) || !model.IsChild(base, p) || base == p {
		return p
	}
	return filepath.ToSlash(strings.TrimPrefix(p[len(base):], string(filepath.Separator)))
}

// commonFolder returns the deepest folder that holds both clean absolute paths.
func commonFolder(a, b string) string {
	for !model.IsChild(a, b) && a != filepath.Dir(a) {
		a = filepath.Dir(a)
	}
	return a
}
