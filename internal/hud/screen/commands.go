package screen

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// runCommand runs a command of the user's own, with facts about the selection in its environment.
func (u *ui) runCommand(c settings.Command) {
	if u.options.ReadOnly {
		u.say("a read-only screen runs no commands of your own: attach without --read-only")
		return
	}
	run := func() { u.startCommand(c, u.facts()) }
	if c.Confirm {
		u.confirm(fmt.Sprintf("%s: %s?", c.Name, c.Run), run)
		return
	}
	run()
}

func (u *ui) startCommand(c settings.Command, env []string) {
	p := u.options.Programs
	switch {
	case p.Run == nil:
		u.say("commands cannot be run here")
	case c.Terminal:
		u.outside(func(ctx context.Context) error {
			_, err := p.Run(ctx, c, env)
			return err
		})
	default:
		u.say(c.Name + " runs…")
		u.job(func(ctx context.Context) func() {
			out, err := p.Run(ctx, c, env)
			return func() { u.showOutput(c, out, err) }
		})
	}
}

// showOutput shows the output of a command, or says that it has ended.
func (u *ui) showOutput(c settings.Command, out string, err error) {
	u.message = ""
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if strings.TrimSpace(out) == "" || err == nil && len(lines) == 1 {
		u.after(strings.TrimSuffix(c.Name+": "+text.CleanTabs(lines[0]), ": "), err)
		return
	}
	var cells []view.Cell
	for _, l := range lines {
		cells = append(cells, view.Cell{{Text: text.CleanTabs(l)}})
	}
	if err != nil {
		cells = append(cells, nil, view.Cell{{Text: problem.Text(err), Tone: view.Bad}})
	}
	u.push(newReader(u, c.Name, func(int) []view.Cell { return cells }))
}

// mostLine bounds the line of the log that a command gets, in bytes. The systems bound the environment of a program.
const mostLine = 8 << 10

// facts are the variables in the environment of the user's commands, named in settings.Facts.
func (u *ui) facts() []string {
	var env []string
	add := func(name, value string) { env = append(env, "HONE_"+name+"="+value) }
	row := u.target()
	if row != nil {
		for _, f := range u.frame.Facts(row.Name) {
			add(f.Name, f.Value)
		}
	}
	if u.top() == u.main {
		add("RESOURCES", strings.Join(texts(u.table.markedRows()), " "))
	}
	if it := u.log.item(); it != nil && u.top().place() == inLog {
		line := text.CleanTabs(it.Lines[0].Text)
		add("LINE", words.Clip(line, mostLine))
		for _, p := range logline.Places(line) {
			if path, ok := u.locate(row, p.File); ok {
				add("FILE", path)
				add("FILE_LINE", fmt.Sprint(p.Line))
				break
			}
		}
	}
	return env
}
