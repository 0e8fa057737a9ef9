package hint

import (
	"fmt"
	"regexp"
	"strings"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// Explanation is a syntax error in plain words: its place, the message, and the correction.
type Explanation struct {
	Line, Col int
	Msg, Mend string
}

// foreignWords are statements of Python and of other languages that Starlark lacks.
var foreignWords = map[string][2]string{
	"import":   {"Tiltfiles are written in Starlark, which has no import", "load('./file', 'name') takes names from another file; os, json and yaml functions need no import"},
	"from":     {"Tiltfiles are written in Starlark, which has no import", "load('./file', 'name') takes names from another file"},
	"try":      {"Tiltfiles are written in Starlark, which has no try: an error ends the evaluation", "check before: if os.path.exists('file'): …; or give a default: read_json('file', default={})"},
	"except":   {"Tiltfiles are written in Starlark, which has no try and except", "check before: if os.path.exists('file'): …"},
	"finally":  {"Tiltfiles are written in Starlark, which has no try and finally", "put the final steps after the rest"},
	"class":    {"Tiltfiles are written in Starlark, which has no classes", "struct(name='web', port=80) holds fields, a function makes such values"},
	"is":       {"Tiltfiles are written in Starlark, which has no `is`", "compare with ==, as in x == None, or with !="},
	"raise":    {"Tiltfiles are written in Starlark, which has no raise", "fail('message') stops with a message"},
	"with":     {"Tiltfiles are written in Starlark, which has no with", "read_file('path') returns the content of a file"},
	"del":      {"Tiltfiles are written in Starlark, which has no del", "d.pop('key') removes a key from a dict, list.pop(i) an element from a list"},
	"assert":   {"Tiltfiles are written in Starlark, which has no assert", "if not condition: fail('message')"},
	"yield":    {"Tiltfiles are written in Starlark, which has no generators", "collect into a list and return it"},
	"global":   {"Tiltfiles are written in Starlark, which has no global", "a function can change a dict or a list from outside, but not assign to a name from outside"},
	"nonlocal": {"Tiltfiles are written in Starlark, which has no nonlocal", "a function can change a dict or a list from outside, but not assign to a name from outside"},
	"async":    {"Tiltfiles are written in Starlark, which has no async", "leave the word out: builtins return when they are done"},
	"await":    {"Tiltfiles are written in Starlark, which has no await", "leave the word out: builtins return when they are done"},
	"elif":     {"there is no if above that this elif belongs to", "put elif below its if, with the same indentation"},
	"print":    {"print is a function", "print('text')"},
	"exec":     {"Tiltfiles are written in Starlark, which has no exec", "local('command') runs a command"},
	"match":    {"Tiltfiles are written in Starlark, which has no match", "if x == 1: …, then elif x == 2: …"},
	"function": {"a function begins with def", "def name(a, b):"},
	"func":     {"a function begins with def", "def name(a, b):"},
	"fn":       {"a function begins with def", "def name(a, b):"},
	"var":      {"an assignment needs no keyword", "name = value"},
	"let":      {"an assignment needs no keyword", "name = value"},
	"const":    {"an assignment needs no keyword", "name = value"},
	"switch":   {"Tiltfiles are written in Starlark, which has no switch", "if x == 1: …, then elif x == 2: …"},
	"new":      {"values are made without new", "struct(a=1)"},
}

// foreignSigns are signs of other languages, by a pattern of the line with the error; the first match wins.
var foreignSigns = []struct {
	re        *regexp.Regexp
	msg, mend string
}{
	{regexp.MustCompile(`^\s*(<<<<<<<|=======|>>>>>>>)`), "this looks like the marker of a merge conflict", "choose one of the two versions, and remove the markers"},
	{regexp.MustCompile(`^\s*(//|/\*|\*/)`), "a comment begins with #", "# text"},
	{regexp.MustCompile(`\+\+|--\s*$`), "there is no ++ and no --", "x += 1"},
	{regexp.MustCompile(`&&`), "there is no &&", "write and: if a and b:"},
	{regexp.MustCompile(`\|\|`), "there is no ||", "write or: if a or b:"},
	{regexp.MustCompile(`<>`), "there is no <>", "write !="},
	{regexp.MustCompile(`===|!==`), "there is no === and no !==", "write == or !="},
	{regexp.MustCompile(`:=`), "there is no :=", "assign in a line of its own: x = value"},
	{regexp.MustCompile(`\*\*\s*\w`), "there is no power operator **", "multiply: x * x"},
	{regexp.MustCompile(`^\s*@`), "there are no decorators", "call the decorator: f = decorate(f)"},
	{regexp.MustCompile("[“”„‘’‚`]"), "this is not a quote of the language", "write ' or \""},
	{regexp.MustCompile("\u00a0"), "there is a no-break space here", "replace it with an ordinary space"},
	{regexp.MustCompile(`\?`), "there is no ?", "write: a if condition else b"},
	{regexp.MustCompile(`(^|[^=])![^=]`), "there is no !", "write not: if not a:"},
	{regexp.MustCompile(`->`), "functions have no types here", "def f(x):"},
	{regexp.MustCompile(`^\s*def\b.*\w\s*:\s*\w+.*\)`), "parameters have no types here", "def f(x):"},
	{regexp.MustCompile(`^\s*(if|elif|while)\b[^=!<>]*[^=!<>]=[^=]`), "= assigns; a condition compares", "write =="},
	{regexp.MustCompile(`\$[\w({]`), "there are no $ variables", "os.getenv('NAME') reads the environment, local('command') runs a command"},
	{regexp.MustCompile(`^\s*\w+\s*:\s*\w+\s*=`), "names have no types here", "x = value"},
	{regexp.MustCompile(`^\s*[\w-]+\s*:\s*([\w\[{'"].*)?$`), "this looks like YAML, but a Tiltfile is a program", "k8s_yaml('file.yaml') takes YAML; another file is named with --file"},
}

// Syntax explains a syntax error in plain words, and finds its place: the parser reports where it noticed the error,
// which is often after it. Other errors keep the parser's words.
func Syntax(src string, e syntax.Error) Explanation {
	src = fault.UnixLines(src)
	x := locateToken(src, e)
	line := fault.LineOf(src, x.Line)
	got, want, isGot := strings.Cut(strings.TrimPrefix(e.Msg, "got "), ", want ")
	isGot = isGot && strings.HasPrefix(e.Msg, "got ")
	for _, rule := range []func() bool{
		func() bool { return x.indentation(src, got, e.Msg) },
		func() bool { return isGot && x.stringPrefix(line, got) },
		func() bool { return x.foreignWord(line, got, isGot) },
		func() bool { return x.stringLiteral(e.Msg) },
		func() bool { return isGot && x.openBracket(src, got, want) },
		func() bool { return got == "else" && x.elseWord(want) },
		func() bool { return x.foreignSign(line) },
		func() bool { return isGot && x.missingSign(line, got, want) },
		func() bool { return x.otherMessage(e.Msg) },
	} {
		if rule() {
			return x
		}
	}
	if isGot {
		x.Msg = fmt.Sprintf("got %s, want %s", plainToken(got), plainToken(want))
	}
	return x
}

// plainToken returns the everyday name of a token.
func plainToken(token string) string {
	switch token {
	case "newline":
		return "the end of the line"
	case "end of file", "EOF":
		return "the end of the file"
	case "indent":
		return "an indented line"
	case "outdent":
		return "a line that is indented less"
	case "primary expression":
		return "a value"
	case "identifier":
		return "a name"
	case "string literal":
		return "a string"
	case "int literal", "float literal":
		return "a number"
	}
	return token
}
