package hint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// say sets the message and the mend, and returns true.
func (x *Explanation) say(mend, format string, args ...any) bool {
	x.Msg, x.Mend = fmt.Sprintf(format, args...), mend
	return true
}

// indentation explains lines with the wrong indentation.
func (x *Explanation) indentation(src, got, msg string) bool {
	switch {
	case strings.HasSuffix(msg, "want indent"):
		return x.say(tabMend(src, "indent it with four spaces; pass is a block that does nothing"), "the line below a : must be indented")
	case got == "indent":
		return x.say(tabMend(src, "begin it below the first letter of the line above"), "this line is indented, but the one above does not open a block with :")
	case strings.Contains(msg, "unindent does not match"):
		return x.say(tabMend(src, "begin it below the first letter of the block that it belongs to"), "this line is indented less than the one above, but not as far as any line before that")
	}
	return false
}

// tabMend returns the mend for a line in the wrong column. Where tabs and spaces are mixed, the line may only look
// right.
func tabMend(src, otherwise string) string {
	var tabs, spaces bool
	for line := range strings.SplitSeq(src, "\n") {
		tabs = tabs || strings.HasPrefix(line, "\t")
		spaces = spaces || strings.HasPrefix(line, " ")
	}
	if tabs && spaces {
		return "some lines here are indented with tabs, others with spaces: use only spaces"
	}
	return otherwise
}

var firstWord = regexp.MustCompile(`^\s*(\w+)\s+(\S)`)

// foreignWord explains words that have a meaning in other languages.
func (x *Explanation) foreignWord(line, got string, isGot bool) bool {
	if !isGot {
		return false
	}
	if w, ok := foreignWords[got]; ok {
		return x.say(w[1], "%s", w[0])
	}
	m := firstWord.FindStringSubmatchIndex(line)
	if m == nil || len([]rune(line[:m[4]]))+1 != x.Col && len([]rune(line[:m[4]])) != x.Col {
		return false
	}
	if w, ok := foreignWords[line[m[2]:m[3]]]; ok {
		return x.say(w[1], "%s", w[0])
	}
	return false
}

// elseWord explains a misplaced else.
func (x *Explanation) elseWord(want string) bool {
	if want == "newline" {
		return x.say("write else: on a line of its own, below the if; for a value: a if condition else b", "else cannot stand on the line of its if")
	}
	return x.say("put else below its if, with the same indentation", "there is no if above that this else belongs to")
}

var stringPrefix = regexp.MustCompile(`(^|\W)([fFuUtT][rRbB]?|[rRbB][fF])$`)

// stringPrefix explains letters before a string.
func (x *Explanation) stringPrefix(line, got string) bool {
	before := string([]rune(line)[:min(max(x.Col-1, 0), len([]rune(line)))])
	m := stringPrefix.FindStringSubmatch(before)
	if got != "string literal" || m == nil {
		return false
	}
	x.Col -= len(m[2])
	if strings.ContainsAny(m[2], "uU") {
		return x.say("'text'", "strings need no u before them")
	}
	return x.say("'text {}'.format(x), or 'text %s' % x", "Tiltfiles are written in Starlark, which has no f-strings")
}

// stringLiteral explains strings that do not end, or that contain an invalid escape sequence.
func (x *Explanation) stringLiteral(msg string) bool {
	switch {
	case strings.Contains(msg, "unexpected newline in string"):
		return x.say("close it with the quote that it begins with; ''' begins a text of several lines", "the string does not end on its line")
	case strings.Contains(msg, "unexpected EOF in string"):
		return x.say("close it with the three quotes that it begins with", "the string never ends")
	case strings.HasPrefix(msg, "invalid escape sequence "):
		return x.say(`r'\d' is a string whose backslashes stay as they are; '\\' is one backslash`, "%s means nothing in a string", strings.TrimPrefix(msg, "invalid escape sequence "))
	}
	return false
}

// openBracket explains errors between brackets, such as a bracket that is never closed or a missing comma.
func (x *Explanation) openBracket(src, got, want string) bool {
	open := openBrackets(src, x.Line, x.Col)
	if got == "end of file" {
		open = openBrackets(src, 0, 0)
	}
	if len(open) == 0 {
		return false
	}
	last := open[len(open)-1]
	if slices.Contains(openBrackets(src, 0, 0), last) && (got == "end of file" || last.line < x.Line) {
		x.Line, x.Col = last.line, last.col
		return x.say("", "this %c is never closed: a %s is missing", last.sign, closing[last.sign])
	}
	switch value := slices.Contains([]string{"identifier", "string literal", "int literal", "float literal"}, got); {
	case got == "for" && last.sign != '[':
		return x.say("make a list of it: [x for x in list]", "Tiltfiles are written in Starlark, which has no generators")
	case got == "else" && strings.Contains(want, "for"):
		return x.say("[a if condition else b for x in list]", "an if after for only selects elements, so it has no else")
	case last.sign == '{' && got == "','" && want == "':'":
		return x.say("set([1, 2]) makes a set", "{…} makes a dict, whose entries are key: value")
	case last.sign == '{' && value && want == "':'":
		return x.say("", "a : is missing between the key and its value")
	case value && firstOnLine(src, x.Line, x.Col):
		x.Line--
		x.toLineEnd(src)
		return x.say("end the line with a comma", "a comma is missing here")
	case value && slices.Contains([]string{"','", "']'", "')'", "'}'"}, want):
		return x.say("", "a comma is missing before %s", plainToken(got))
	}
	return false
}

// firstOnLine reports whether only blanks precede a place on its line.
func firstOnLine(src string, line, col int) bool {
	text := []rune(fault.LineOf(src, line))
	return strings.TrimSpace(string(text[:min(max(col-1, 0), len(text))])) == ""
}

// foreignSign explains signs that have a meaning in other languages.
func (x *Explanation) foreignSign(line string) bool {
	code := blankStrings(line)
	for _, s := range foreignSigns {
		if s.re.MatchString(code) {
			return x.say(s.mend, "%s", s.msg)
		}
	}
	return false
}

var callWithoutParentheses = regexp.MustCompile(`^\s*([A-Za-z_][\w.]*)\s+['"\w\[]`)

// missingSign explains a missing colon, parenthesis or operator.
func (x *Explanation) missingSign(line, got, want string) bool {
	line = blankStrings(line)
	before := strings.TrimSpace(string([]rune(line)[:min(max(x.Col-1, 0), len([]rune(line)))]))
	switch {
	case want == "':'" && got == "newline":
		return x.say("", "a : is missing at the end of the line")
	case want == "':'":
		return x.say("", "a : is missing before %s", plainToken(got))
	case want == "'('" && strings.HasPrefix(strings.TrimSpace(line), "def"):
		return x.say("def name(a, b):", "a function needs parentheses after its name, even when it takes no parameters")
	case want == "newline" && got == "string literal" && before != strings.TrimRight(before, `'"`):
		return x.say("+ joins two strings: 'a' + 'b'", "two strings are next to each other")
	case want == "newline" && callWithoutParentheses.MatchString(line) && !strings.ContainsAny(before, " =("):
		name := callWithoutParentheses.FindStringSubmatch(line)[1]
		return x.say(name+"(…)", "a call needs parentheses around its arguments")
	case want == "in":
		return x.say("a not in b; or, for one value: not a", "not cannot stand between two values")
	case want == "newline" && strings.HasPrefix(string([]rune(line)[min(max(x.Col-1, 0), len([]rune(line))):]), "_"):
		return x.say("", "numbers have no _ between their digits")
	case want == "newline":
		return x.say("", "%s does not fit here: the statement has ended before it", plainToken(got))
	}
	return false
}

// otherMessage explains messages of the parser that are not about a missing token.
func (x *Explanation) otherMessage(msg string) bool {
	for _, m := range []struct{ has, msg, mend string }{
		{"conditional expression without else", "a value with if needs an else", "a if condition else None"},
		{"does not associate with", "comparisons do not chain", "a < b and b < c"},
		{"load statement must import at least", "load must list the names that it takes from the file", "load('./file', 'name'); include('./file') only runs it"},
		{"first operand of load statement", "load takes the path as plain text in quotes", "load_dynamic(path) loads a file whose path is computed"},
		{"load operand must be", "the names that load takes must be in quotes", "load('./file', 'name'), or load('./file', other='name')"},
		{"keyword argument must have form", "in a call, the left side of = is the name of a parameter, without quotes", "f(name=value)"},
		{"stray backslash", "a \\ is allowed only at the end of a line that continues on the next one", ""},
		{"obsolete form of octal literal", "a number does not begin with 0", "0o777 is octal, 777 decimal"},
		{"unexpected ')'", "this ) closes nothing", ""},
		{"unexpected ']'", "this ] closes nothing", ""},
		{"unexpected '}'", "this } closes nothing", ""},
	} {
		if strings.Contains(msg, m.has) {
			return x.say(m.mend, "%s", m.msg)
		}
	}
	if c, ok := strings.CutPrefix(msg, "unexpected input character "); ok {
		return x.say("", "the character %s means nothing in a Tiltfile", c)
	}
	return false
}
