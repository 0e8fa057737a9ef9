package watch

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/moby/patternmatcher"

	"github.com/hone-dev/hone/pkg/model"
)

// pattern is one line of an ignore file. The common forms are compared directly; the others are left to patternmatcher,
// whose semantics all of them have.
type pattern struct {
	// except is set if the pattern is an exception to earlier ones.
	except bool
	// text is the pattern without "!", with the separators of this system.
	text  string
	parts []string
	form  form
	// pieces are the texts between the stars of the last part, for the forms that may have stars.
	pieces  []string
	matcher *patternmatcher.PatternMatcher
	// holder, of a pattern that ends in /* or /**, fits the folders whose whole content the pattern fits.
	holder *pattern
}

// form is the form of a pattern, which determines how it is compared.
type form uint8

const (
	formOther   form = iota
	formLiteral      // a path without wildcards
	formName         // **/NAME, with no wildcards but * in the name
	formTop          // NAME, with no wildcards but *
)

const sep = string(filepath.Separator)

// leaky holds the characters that the library passes to its regular expressions unescaped, so that they are not literal
// in a pattern with wildcards.
const leaky = `^|{}`

// neutral states that the pattern does not fit the parent folders, so that only the path itself is compared.
var neutral = func() patternmatcher.MatchInfo {
	m, err := patternmatcher.New([]string{"!x"})
	if err != nil {
		panic(err) // a constant: every test of this package would fail at its start
	}
	_, info, err := m.MatchesUsingParentResults("y", patternmatcher.MatchInfo{})
	if err != nil {
		panic(err)
	}
	return info
}()

// hoist brings patterns into one form: trimmed, clean, relative, with the separators of this system. When some of them
// start with "..", base moves up and all of them are written relative to the new one.
func hoist(base string, patterns []string) (string, []string) {
	var out []string
	up := 0
	for _, p := range patterns {
		p = strings.TrimSpace(p)
		except := strings.HasPrefix(p, "!")
		if except {
			p = strings.TrimSpace(p[1:])
		}
		if p != "" {
			p = relativePattern(base, filepath.Clean(filepath.FromSlash(p)))
		}
		if n := climbs(p); n > up {
			up = n
		}
		switch {
		case except:
			out = append(out, "!"+p)
		case p != "":
			out = append(out, p)
		}
	}
	for ; up > 0; up-- {
		name := escape(filepath.Base(base))
		if base == filepath.Dir(base) {
			name = "."
		}
		base = filepath.Dir(base)
		for i, p := range out {
			rest, except := strings.CutPrefix(p, "!")
			p = filepath.Join(name, rest)
			if except {
				p = "!" + p
			}
			out[i] = p
		}
	}
	return base, out
}

// relativePattern turns an absolute pattern into one relative to base; "/x" means the same as "x".
func relativePattern(base, p string) string {
	if filepath.IsAbs(p) && p != base && model.IsChild(base, p) {
		p = p[len(base):]
	}
	if len(p) > 1 {
		p = strings.TrimPrefix(p, sep)
	}
	return p
}

// climbs counts the leading ".." of a clean pattern.
func climbs(p string) int {
	n := 0
	for p == ".." || strings.HasPrefix(p, ".."+sep) {
		n++
		p = strings.TrimPrefix(p[2:], sep)
	}
	return n
}

var escaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// escape returns a pattern that fits exactly the given name.
func escape(name string) string {
	if filepath.Separator != '\\' {
		name = strings.ReplaceAll(name, `\`, `\\`)
	}
	return escaper.Replace(name)
}

func newPattern(text string) (*pattern, error) {
	p := &pattern{}
	p.text, p.except = strings.CutPrefix(text, "!")
	if p.text == "" || !utf8.ValidString(p.text) || strings.ContainsRune(p.text, 0) {
		return nil, filepath.ErrBadPattern
	}
	p.parts = strings.Split(p.text, sep)
	var err error
	if p.matcher, err = patternmatcher.New([]string{guard(p.text)}); err != nil {
		return nil, err
	}
	// The library compiles a pattern on first use: do that here, where an error can still be reported, and so that later
	// uses only read.
	if _, err := p.matcher.MatchesOrParentMatches("x"); err != nil {
		return nil, err
	}
	p.classify()
	if p.fillsFolder() {
		p.holder, err = newPattern(strings.Join(p.parts[:len(p.parts)-1], sep))
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// guard keeps the library from taking the ends of a pattern for syntax: a "!" or a blank there is part of a name.
func guard(text string) string {
	if r, n := utf8.DecodeRuneInString(text); r == '!' || unicode.IsSpace(r) {
		text = "[" + text[:n] + "]" + text[n:]
	}
	if r, n := utf8.DecodeLastRuneInString(text); unicode.IsSpace(r) && !escaped(text[:len(text)-n]) {
		text = text[:len(text)-n] + "[" + text[len(text)-n:] + "]"
	}
	return text
}

// escaped reports whether text ends in a backslash that escapes the character after text.
func escaped(text string) bool {
	n := len(text) - len(strings.TrimRight(text, `\`))
	return filepath.Separator != '\\' && n%2 == 1
}

// fillsFolder reports whether the pattern is FOLDER/* or FOLDER/**, with a FOLDER simple enough to have the same meaning
// as a pattern on its own.
func (p *pattern) fillsFolder() bool {
	last := len(p.parts) - 1
	if p.except || last == 0 || strings.ContainsAny(p.text, `[]\`+leaky) {
		return false
	}
	if p.parts[last] != "*" && p.parts[last] != "**" {
		return false
	}
	for i, part := range p.parts[:last] {
		if strings.Contains(part, "**") && (i > 0 || part != "**") {
			return false
		}
	}
	return true
}

// classify finds the form of the pattern.
func (p *pattern) classify() {
	wild := `*?[]`
	if filepath.Separator != '\\' {
		wild += `\`
	}
	name := p.parts[len(p.parts)-1]
	simple := isASCII(name) && !strings.ContainsAny(name, `?[]\`+leaky) && !strings.Contains(name, "**")
	switch {
	case !strings.ContainsAny(p.text, wild):
		p.form = formLiteral
	case simple && len(p.parts) == 2 && p.parts[0] == "**":
		p.form, p.pieces = formName, strings.Split(name, "*")
	case simple && len(p.parts) == 1:
		p.form, p.pieces = formTop, strings.Split(name, "*")
	}
}

// fits reports whether the pattern, taken alone, fits the relative path itself.
func (p *pattern) fits(rel string) bool {
	switch p.form {
	case formLiteral:
		return rel == p.text
	case formTop:
		return strings.IndexByte(rel, filepath.Separator) < 0 && fitsPieces(p.pieces, rel)
	case formName:
		if strings.IndexByte(rel, '\n') >= 0 {
			break
		}
		return fitsPieces(p.pieces, rel[strings.LastIndexByte(rel, filepath.Separator)+1:])
	case formOther:
	}
	ok, _, err := p.matcher.MatchesUsingParentResults(rel, neutral)
	return err == nil && ok
}

// fitsPieces reports whether name consists of the pieces in their order, with anything between them.
func fitsPieces(pieces []string, name string) bool {
	last := len(pieces) - 1
	if last == 0 {
		return name == pieces[0]
	}
	rest, ok := strings.CutPrefix(name, pieces[0])
	if !ok {
		return false
	}
	for _, piece := range pieces[1:last] {
		i := strings.Index(rest, piece)
		if i < 0 {
			return false
		}
		rest = rest[i+len(piece):]
	}
	return strings.HasSuffix(rest, pieces[last])
}

// fitsAllIn reports whether the pattern fits everything that lies directly in a folder, "" being the base.
func (p *pattern) fitsAllIn(rel string) bool {
	if rel == "" {
		return p.text == "*" || p.text == "**"
	}
	return p.holder != nil && p.holder.fits(rel)
}

// mayFitBelow reports whether the pattern might fit something below a folder. It returns false only if that is certain.
func (p *pattern) mayFitBelow(rel string) bool {
	if rel == "" {
		return true
	}
	if p.form != formLiteral && strings.ContainsAny(p.text, leaky) {
		return true
	}
	for _, part := range p.parts {
		name, rest, deeper := strings.Cut(rel, sep)
		if strings.Contains(part, "**") || strings.ContainsAny(part, `[]\`) || !isASCII(part) {
			return true
		}
		if ok, err := filepath.Match(part, name); err == nil && !ok {
			return false
		}
		if !deeper {
			return true
		}
		rel = rest
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
