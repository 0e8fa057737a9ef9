package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// The order in which items are shown: the best matches come first.
const (
	orderKeyword   = "0" // keyword arguments
	orderFitting   = "1" // values of the expected type
	orderLocal     = "2" // names of the text
	orderLanguage  = "3" // names of the language
	orderStatement = "4" // words of Starlark
)

func (s *server) completion(p positionParams) (any, error) {
	at, err := s.place(p)
	if err != nil {
		return nil, err
	}
	return completionList{Items: at.complete()}, nil
}

// complete returns the completions at a place.
func (p place) complete() []completionItem {
	items := []completionItem{}
	if p.o.inComment(p.at) {
		return items
	}
	i, touching := p.o.tokenAt(p.at)
	start := p.at
	if touching {
		switch t := p.o.tokens[i]; t.kind {
		case tokenString:
			return append(items, p.completeString(i)...)
		case tokenNumber:
			return items
		default:
			start = t.start
		}
	}
	c := completer{place: p, start: start, before: i - 1}
	switch {
	case p.o.is(c.before, "."):
		c.members()
	case p.o.is(c.before, "def"):
	default:
		c.names()
	}
	return append(items, c.items...)
}

// completer collects the completions for the name that begins at start.
type completer struct {
	place
	start int
	// before is the index of the token before the name.
	before int
	items  []completionItem
}

// add adds an item that replaces the typed part of the name.
func (c *completer) add(order, label string, kind int, item completionItem) {
	item.Label, item.Kind, item.SortText = label, kind, order+label
	if item.TextEdit == nil {
		item.TextEdit = &textEdit{NewText: label}
	}
	item.TextEdit.Range = c.span(c.start, c.at)
	c.items = append(c.items, item)
}

// members offers the members after a dot.
func (c *completer) members() {
	for _, e := range c.o.valueOf(c.before-1, 0).members() {
		c.entry(orderLanguage, e)
	}
}

// entry offers a name of the language.
func (c *completer) entry(order string, e *language.Entry) {
	name := memberName(e)
	item := completionItem{Detail: e.Signature().Text, Data: &completionTag{e.Name, e.Of}}
	kind := map[language.Kind]int{language.Function: kindFunction, language.Method: kindMethod, language.Module: kindModule,
		language.Value: kindConstant}[e.Kind]
	if e.Is(language.Function, language.Method) {
		c.call(&item, name)
	}
	c.add(order, name, kind, item)
}

// call makes an item insert the brackets of a call too, if the editor can put the cursor between them.
func (c *completer) call(item *completionItem, name string) {
	if !c.snippets || strings.HasPrefix(c.o.text[wordEnd(c.o.text, c.at):], "(") {
		return
	}
	item.TextFormat = formatSnippet
	item.TextEdit = &textEdit{NewText: name + "($0)"}
}

// names offers arguments, names and words of Starlark.
func (c *completer) names() {
	frames := c.o.frames(c.at)
	want := c.wanted(frames)
	if len(frames) > 0 {
		c.keywords(frames[0])
	}
	for _, w := range want.Words() {
		c.add(orderFitting, `"`+w+`"`, kindValue, completionItem{})
	}
	shadowed := map[string]bool{}
	for _, d := range c.o.visible(c.at) {
		if d.start == c.start {
			continue // the name that is being typed
		}
		shadowed[d.name] = true
		c.local(d)
	}
	for _, e := range language.Members("") {
		if shadowed[e.Name] {
			continue
		}
		order := orderLanguage
		if fits(want, e) {
			order = orderFitting
		}
		c.entry(order, e)
	}
	if len(frames) == 0 || c.statementWordsFit() {
		for _, w := range keywordList {
			c.add(orderStatement, w, kindKeyword, completionItem{})
		}
	}
}

// statementWordsFit is false at the beginning of an argument, where "not" and "lambda" are the only keywords allowed.
func (c *completer) statementWordsFit() bool {
	return !c.o.is(c.before, "(", ",", "=")
}

// fits reports whether a name of the language has the specific type that a parameter takes.
func fits(p language.Param, e *language.Entry) bool {
	switch {
	case p.Name == "" || p.Takes("any"):
		return false
	case p.Takes("bool"):
		return slices.Contains([]string{"True", "False"}, e.Name)
	case p.Takes("blob") && e.Kind == language.Function:
		return e.Type == "blob"
	}
	switch e.Type {
	case "", "str", "int", "list", "dict", "None", "any", "path":
		return false
	}
	return p.Takes(e.Type)
}

// wanted returns the parameter whose value is at the place, also within a list. The result has no name if the parameter
// is not known.
func (c *completer) wanted(frames []frame) language.Param {
	for _, f := range frames {
		if c.o.is(f.open, "[") && !c.o.isOperand(f.open-1) {
			continue // a list
		}
		if e := c.callee(f); e != nil {
			p, _ := parameter(e, f.keyword, f.index)
			return p
		}
		break
	}
	return language.Param{}
}

// callee returns the function that a bracket calls; nil if it is not known.
func (p place) callee(f frame) *language.Entry {
	if f.callee < 0 {
		return nil
	}
	e := p.o.entryOf(f.callee)
	if e.Is(language.Function, language.Method) {
		return e
	}
	return nil
}

// keywords offers the keyword arguments of a call that are not given yet.
func (c *completer) keywords(f frame) {
	e := c.callee(f)
	atStart := f.keyword == "" && (c.o.is(c.before, "(", ",") || c.o.isKind(c.before, tokenNewline))
	if e == nil || !atStart {
		return
	}
	given := map[string]bool{}
	for _, g := range f.given {
		p, _ := e.Param(g)
		given[p.Name] = true
	}
	for i := range f.index {
		p, _ := parameter(e, "", i)
		given[p.Name] = true // by its position
	}
	for i, p := range e.Params {
		if !p.Keyword() || given[p.Name] {
			continue
		}
		order := fmt.Sprintf("%s%02d", orderKeyword, i)
		c.add(order, p.Name+"=", kindProperty, completionItem{Detail: p.String(), Documentation: markdown(p.Text)})
	}
}

// local offers a name of the text.
func (c *completer) local(d *definition) {
	item, kind := d.item()
	if kind == kindFunction {
		c.call(&item, d.name)
	}
	c.add(orderLocal, d.name, kind, item)
}

// item describes a definition, and says whether it is a function or a variable.
func (d *definition) item() (item completionItem, kind int) {
	item = completionItem{Detail: d.detail()}
	if d.entry == nil {
		return item, kindVariable
	}
	if d.entry.Text != "" {
		item.Documentation = markdown(d.entry.Text)
	}
	return item, kindFunction
}

// signature returns the signature of a function of the text, without the types that nothing declares.
func (d *definition) signature() string {
	return strings.ReplaceAll(strings.TrimSuffix(d.entry.Signature().Text, " -> any"), ": any", "")
}

// detail describes a definition in one line.
func (d *definition) detail() string {
	text := ""
	if d.entry != nil {
		text = d.signature()
	}
	if d.kind == definedLoad {
		text = strings.TrimSpace(text + " from " + d.file)
	}
	return text
}

// completeString offers completions in a string: files, extensions, names that a file defines, allowed words, and resources.
func (p place) completeString(i int) []completionItem {
	t := p.o.tokens[i]
	if p.at < t.inner {
		return nil
	}
	c := completer{place: p, start: t.inner, before: i - 1}
	begun := p.o.text[t.inner:p.at]
	for _, l := range p.o.loads {
		switch {
		case l.token == t:
			c.loadable(begun)
			return c.items
		case p.o.loadHas(l, t):
			c.exported(l.file)
			return c.items
		}
	}
	frames := p.o.frames(p.at)
	want := c.wanted(frames)
	for _, w := range want.Words() {
		c.add(orderFitting, w, kindValue, completionItem{})
	}
	switch want.Name {
	case "resource_deps", "resources":
		for _, r := range p.o.resources() {
			c.add(orderLocal, r, kindValue, completionItem{})
		}
	case "cluster":
		for _, f := range p.o.calls("cluster") {
			if t, ok := f.texts["name"]; ok {
				c.add(orderLocal, p.o.str(t), kindValue, completionItem{})
			}
		}
	}
	if want.Takes("path") {
		if e := c.callee(frames[0]); e != nil && slices.Contains(loaders, e.Name) {
			c.loadable(begun)
		} else {
			c.path(begun)
		}
	}
	return c.items
}

// loadHas reports whether a token is one of the names of a load statement.
func (o *outline) loadHas(l loadStatement, t token) bool {
	for _, n := range l.names {
		if n.token == t {
			return true
		}
	}
	return false
}

// loadable offers the extensions and files that can be loaded.
func (c *completer) loadable(begun string) {
	if _, ok := strings.CutPrefix(begun, extensionScheme); ok || !strings.Contains(begun, "/") {
		for _, n := range c.files.extensionNames() {
			c.add(orderLanguage, extensionScheme+n, kindModule, completionItem{})
		}
		if ok {
			return
		}
	}
	c.path(begun)
}

// path offers the files in the typed folder.
func (c *completer) path(begun string) {
	c.start += strings.LastIndex(begun, "/") + 1
	for _, e := range c.files.paths(c.doc, begun) {
		if e.dir {
			c.add(orderLocal, e.name+"/", kindFolder, completionItem{})
		} else {
			c.add(orderLocal, e.name, kindFile, completionItem{})
		}
	}
}

// exported offers the names that a file defines.
func (c *completer) exported(file string) {
	d := c.files.loadedBy(c.doc, file)
	if d == nil {
		return
	}
	for _, def := range d.outline().exports() {
		item, kind := def.item()
		c.add(orderLocal, def.name, kind, item)
	}
}

// resolve adds the documentation to the item that the user has selected.
func (s *server) resolve(item completionItem) (any, error) {
	if item.Data == nil {
		return item, nil
	}
	if e := findEntry(*item.Data); e != nil {
		item.Documentation = markdown(e.Markdown())
	}
	return item, nil
}

func findEntry(t completionTag) *language.Entry {
	if t.Of == "" {
		return language.Lookup(t.Name)
	}
	for _, e := range language.Methods(t.Of) {
		if e.Name == t.Name {
			return e
		}
	}
	return nil
}
