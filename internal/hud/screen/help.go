package screen

import (
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// helpTitle is the title of the help.
const helpTitle = "keys"

func (u *ui) openHelp() {
	from := u.top().place()
	u.push(newReader(u, helpTitle, func(int) []view.Cell { return u.help(from) }))
}

// helpParts are the parts of the help. A verb is listed in the first part whose places all allow it.
var helpParts = []struct {
	in    place
	title string
}{
	{inViews, "EVERYWHERE"}, {inTable | inDetails, "ON RESOURCES"}, {inMain, "IN THE TABLE AND IN THE LOG"}, {inTable, "IN THE TABLE"}, {inLog, "IN THE LOG"},
	{inDetails, "IN DETAILS"}, {inCard, "ON AN ERROR CARD"}, {inWhy, "IN LISTS"}, {inPending, "IN PENDING CHANGES"}, {inRevisions, "IN REVISIONS"}, {inText, "IN HELP, NOTICES, OBJECTS, PREVIOUS RUNS"},
}

// signs explains the signs of the table.
func signs() []view.Cell {
	var lines []view.Cell
	add := func(sign view.Span, meaning string) {
		lines = append(lines, view.Cell{{Text: "  "}, sign, {Text: "  " + meaning}})
	}
	for _, s := range []struct {
		status  view.Status
		meaning string
	}{
		{view.Well, "the update and the program are well"}, {view.Updating, "is being updated"}, {view.Waiting, "waits: UPDATE says for what"},
		{view.Failed, "the update, the program or a port has failed"}, {view.Warning, "is well, with warnings: UPDATE or RUNTIME says which"},
		{view.Unknown, "the cluster or the engine does not answer"}, {view.Idle, "is disabled or not started"},
	} {
		add(glyphs[s.status], s.meaning)
	}
	add(unseenMarks[view.UnseenErrors][0], "after a name: its program has logged errors that were not shown yet")
	add(unseenMarks[view.UnseenLines][0], "after a name: its program has written again after a pause of a minute or more")
	add(view.Span{Text: "›", Tone: view.Accent}, "at the edge: another screen of the session has selected it")
	return lines
}

// help lists every verb with its keys and its name: first the verbs of the place from which it was opened, then the others by place.
func (u *ui) help(from place) []view.Cell {
	keys, names := 0, 0
	for _, v := range u.verbs {
		keys, names = max(keys, text.Width(v.label())), max(names, text.Width(v.name))
	}
	line := func(v verb) view.Cell {
		return view.Cell{{Text: "  " + text.PadRight(v.label(), keys) + "  ", Tone: view.Accent}, {Text: text.PadRight(v.name, names) + "  ", Tone: view.Dim}, {Text: v.help}}
	}
	var here []view.Cell
	parts := make([][]view.Cell, len(helpParts))
	for _, v := range u.verbs {
		if v.in&from != 0 && v.in&inViews != inViews {
			here = append(here, line(v))
			continue
		}
		for i, p := range helpParts {
			if v.in&p.in == p.in {
				parts[i] = append(parts[i], line(v))
				break
			}
		}
	}
	var lines []view.Cell
	add := func(title string, part []view.Cell) {
		if len(part) > 0 {
			lines = append(append(append(lines, view.Cell{{Text: title, Tone: view.Strong}}), part...), nil)
		}
	}
	add("HERE", here)
	for i, p := range helpParts {
		add(p.title, parts[i])
	}
	lines = append(append(append(lines, view.Cell{{Text: "SIGNS", Tone: view.Strong}}), signs()...), nil)
	return append(lines, view.Cell{{Text: "hone " + u.options.Version, Tone: view.Dim}})
}
