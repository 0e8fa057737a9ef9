package screen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/rawfile"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// Programs are the user's own programs. Programs for text take over the terminal until they have ended. A nil function means that
// there is no such program.
type Programs struct {
	// Edit opens a file in the editor, at a line unless that is 0.
	Edit func(ctx context.Context, path string, line int) error
	// Page shows a file page by page.
	Page func(ctx context.Context, path string) error
	// Run runs a command of the user's own, with variables added to its environment. A command that does not need the terminal is
	// called away from the drawing, and its output is returned.
	Run func(ctx context.Context, c settings.Command, env []string) (output string, err error)
	// Shell runs a shell where a resource runs: in a container of a pod, or, if both are empty, in the folder of the resource.
	Shell func(ctx context.Context, resource, pod, container string) error
}

// pagedLines bounds the lines that a pager gets.
const pagedLines = 500_000

// askSave asks for a file and saves all lines that are shown to it.
func (u *ui) askSave() {
	name := u.log.subject.title
	if name == "" {
		name = "all"
	}
	suggestion := fmt.Sprintf("%s-%s.log", strings.Map(fileRune, name), u.options.Now().Format("150405"))
	u.ask("save log to: ", suggestion, func(string) error { return nil }, func(s string, ok bool) {
		if ok && strings.TrimSpace(s) != "" {
			u.save(strings.TrimSpace(s))
		}
	})
}

// fileRune replaces characters that do not belong in the name of a file.
func fileRune(r rune) rune {
	if strings.ContainsRune(`/\:*?"<>|() `, r) || r < ' ' {
		return '-'
	}
	return r
}

func (u *ui) save(path string) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	list, names := u.log.list, u.log.names
	u.say("saving…")
	u.job(func(ctx context.Context) func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		var n int
		if err == nil {
			n, err = writeLines(ctx, f, list, 0, func(l logstore.Line) string { return savedLine(l, names) })
			if err = errors.Join(err, f.Close()); err != nil {
				_ = os.Remove(path) // it is ours: O_EXCL has made it
			}
		}
		return func() {
			switch {
			case errors.Is(err, os.ErrExist):
				u.say(path + " exists already: choose another name")
			case err != nil:
				u.say("cannot save the log: " + err.Error())
			default:
				u.say(fmt.Sprintf("saved %s %s to %s", grouped(n), lines(n), path))
			}
		}
	})
}

// savedLine returns a line for a file: the time, the name if there are several, and the text without escape sequences.
func savedLine(l logstore.Line, names bool) string {
	s := l.Time.Format("2006-01-02T15:04:05.000Z07:00") + " "
	if names && l.Resource != "" {
		s += string(l.Resource) + " "
	}
	return s + text.CleanTabs(l.Prefix+l.Text)
}

// writeLines writes the lines of a list from the one after a number on.
func writeLines(ctx context.Context, f *os.File, list *loglist.List, after uint64, format func(logstore.Line) string) (n int, err error) {
	out := bufio.NewWriter(f)
	for {
		if err := context.Cause(ctx); err != nil {
			return n, err
		}
		lines := list.After(after, 1000)
		for _, l := range lines {
			after = l.Seq
			if _, err := out.WriteString(format(l) + "\n"); err != nil {
				return n, err
			}
			n++
		}
		if len(lines) == 0 {
			return n, out.Flush()
		}
	}
}

// page shows the lines that are shown in the user's pager.
func (u *ui) page() {
	if u.options.Programs.Page == nil {
		u.say("a pager cannot be used here; s saves the log")
		return
	}
	list, names := u.log.list, u.log.names
	u.say("writing the log for the pager…")
	u.job(func(ctx context.Context) func() {
		f, err := os.CreateTemp("", "hone-log-*.log")
		if err != nil {
			return func() { u.say("cannot show the log in a pager: " + err.Error()) }
		}
		after := uint64(0)
		if oldest := list.Before(1<<63, 1); len(oldest) > 0 && list.Len() > pagedLines {
			after = oldest[0].Seq - min(oldest[0].Seq, pagedLines)
		}
		_, err = writeLines(ctx, f, list, after, func(l logstore.Line) string {
			s := l.Time.Format(time.TimeOnly) + " "
			if names {
				s += string(l.Resource) + " │ "
			}
			return s + text.ANSI(text.ParseTabs(l.Prefix+l.Text))
		})
		err = errors.Join(err, f.Close())
		return func() {
			defer func() { _ = os.Remove(f.Name()) }()
			u.message = ""
			if err != nil {
				u.say("cannot show the log in a pager: " + err.Error())
				return
			}
			u.outside(func(ctx context.Context) error { return u.options.Programs.Page(ctx, f.Name()) })
		}
	})
}

// outside gives the terminal to another program until that has ended.
func (u *ui) outside(run func(ctx context.Context) error) {
	var err error
	if !u.suspend(func() {
		defer u.guard() // here, because the terminal must be taken back before anything can be drawn or printed
		err = run(u.jobs.ctx)
	}) {
		u.say("this terminal cannot be given to another program")
		return
	}
	u.presence.back(u.options.Now())
	if err != nil {
		u.tell(err)
	}
}

// edit opens a file in the user's editor.
func (u *ui) edit(path string, line int) {
	if u.options.Programs.Edit == nil {
		u.say("an editor cannot be used here: " + placeText(path, line))
		return
	}
	if _, err := os.Stat(path); err != nil {
		u.say("cannot open " + placeText(path, line) + ": it is not there")
		return
	}
	u.outside(func(ctx context.Context) error { return u.options.Programs.Edit(ctx, path, line) })
}

func placeText(path string, line int) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d", path, line)
	}
	return path
}

// openPlace opens the editor at the place that the selected line names: of the log, of a card, of the details.
func (u *ui) openPlace() {
	if list, _ := u.lines(); list != nil {
		if l := list.line(); l != nil && l.Target.File != "" {
			u.edit(l.Target.File, l.Target.Line)
			return
		}
	}
	var texts []string
	row := u.target()
	switch {
	case u.card() != nil:
		texts = slices.Concat(u.excerpt(u.card()), u.card().Cause)
	case u.main.place() == inLog:
		if it := u.log.item(); it != nil {
			for _, l := range it.Lines {
				texts = append(texts, text.Clean(l.Text))
			}
			for i := range u.frame.View.Rows {
				if r := &u.frame.View.Rows[i]; r.Name == it.Lines[0].Resource {
					row = r
				}
			}
		}
	}
	for _, s := range texts {
		for _, p := range logline.Places(s) {
			if path, ok := u.locate(row, p.File); ok {
				u.edit(path, p.Line)
				return
			}
		}
	}
	if row == nil {
		u.say("no file is named here")
		return
	}
	u.editDefinition(row.Name)
}

// locate returns the file of the source tree that a resource's output names.
func (u *ui) locate(r *view.Row, file string) (string, bool) {
	if u.frame.Locate == nil {
		return "", false
	}
	name := model.TiltfileName
	if r != nil {
		name = r.Name
	}
	for _, path := range u.frame.Locate(name, file) {
		if rawfile.IsRegular(u.options.local(path)) {
			return path, true
		}
	}
	return "", false
}

// editDefinition opens the editor where the Tiltfile declares a resource.
func (u *ui) editDefinition(name model.ManifestName) {
	if u.frame.Details != nil {
		d, _ := u.frame.Details(name)
		for _, t := range d.Tabs {
			for _, l := range t.Lines {
				if (t.Kind == view.TabDefinition || t.Kind == view.TabFiles) && l.Target.File != "" {
					u.edit(l.Target.File, l.Target.Line)
					return
				}
			}
		}
	}
	u.say("it is not known which file declares " + string(name))
}
