// Package hint explains in plain words why a program is wrong, and suggests the names, the syntax and the types that were
// probably meant.
package hint

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
)

// extensionOf are functions that look like builtins but come from an extension: the one given, or the one of the same name.
var extensionOf = map[string]string{
	"docker_build_with_restart": "restart_process", "custom_build_with_restart": "restart_process", "helm_resource": "",
	"helm_repo": "helm_resource", "helm_remote": "", "cmd_button": "uibutton", "bool_input": "uibutton", "text_input": "uibutton",
	"choice_input": "uibutton", "location": "uibutton", "namespace_create": "namespace", "namespace_inject": "namespace",
	"namespace_yaml": "namespace", "secret_from_dict": "secret", "secret_create_generic": "secret", "secret_yaml_generic": "secret",
	"secret_yaml_tls": "secret", "secret_yaml_registry": "secret", "configmap_create": "configmap", "configmap_yaml": "configmap",
	"configmap_from_dict": "configmap", "git_checkout": "git_resource", "git_resource": "", "deployment_create": "deployment",
	"deployment_yaml": "deployment", "k8s_attach": "", "file_sync_only": "", "pack": "", "ko_build": "ko", "podman_build": "podman",
	"min_tilt_version": "", "min_k8s_version": "", "dotenv": "",
}

// elsewhere maps names of Python and of other tools to the way in which Tiltfiles do the same.
var elsewhere = map[string]string{
	"true": "write True", "false": "write False", "null": "write None", "nil": "write None", "undefined": "write None",
	"open":       "read_file('path') reads a file; only a command can write one: local('…')",
	"exec":       "local('command') runs a command",
	"eval":       "decode_json and decode_yaml read data; code cannot be created at run time",
	"subprocess": "local('command') runs a command and returns what it prints",
	"system":     "local('command') runs a command and returns what it prints",
	"shell":      "local('command') runs a command and returns what it prints",
	"input":      "config.define_string('name') takes values from the command line, os.getenv('NAME') from the environment",
	"sum":        "add up in a loop; Starlark has no sum",
	"map":        "write a list comprehension: [f(x) for x in list]",
	"filter":     "write a list comprehension: [x for x in list if f(x)]",
	"isinstance": "compare the type's name: type(x) == 'string'",
	"format":     "write 'text {}'.format(x), or 'text %s' % x",
	"json":       "decode_json, encode_json and read_json are builtins",
	"yaml":       "decode_yaml, encode_yaml and read_yaml are builtins",
	"re":         "Starlark has no regular expressions; strings have startswith, endswith, find, split and replace",
	"glob":       "listdir('folder', recursive=True) lists files",
	"Exception":  "fail('message') stops with a message",
	"Error":      "fail('message') stops with a message",
	"echo":       "write print(…)",
	"console":    "write print(…)",
	"unicode":    "write str(…)",
	"round":      "int(x + 0.5) rounds",
	"self":       "Starlark has no classes; struct(a=1) holds fields",
	"object":     "struct(a=1) holds fields",
	"super":      "Starlark has no classes; struct(a=1) holds fields",
	"environ":    "write os.environ",
	"getenv":     "write os.getenv('NAME')",
	"putenv":     "write os.putenv('NAME', 'value')",
	"path":       "write os.path",
	"math":       "Starlark has no math module here; + - * / // % work on numbers",
	"time":       "local('date') returns the time",
	"random":     "local('echo $RANDOM') returns a number, another one in each evaluation",
	"raw_input":  "config.define_string('name') takes values from the command line",
	"xrange":     "write range(…)",
	"iter":       "loop over the list itself",
	"next":       "loop over the list itself",
}

// Undefined explains a name that is not defined in a file, and suggests names that may be meant. isBuiltin reports whether
// a dotted name is a builtin; predeclared are the names that every file has.
func Undefined(file, src, name string, isBuiltin func(name string) bool, predeclared []string) (msg, mend string) {
	msg = "undefined: " + name
	if ext, ok := extensionOf[name]; ok {
		if ext == "" {
			ext = name
		}
		return msg, fmt.Sprintf("it comes from an extension: load('ext://%s', '%s')", ext, name)
	}
	if mend, ok := elsewhere[name]; ok {
		return msg, mend
	}
	for _, module := range []string{"os", "os.path", "config", "shlex"} {
		if isBuiltin(module + "." + name) {
			return msg + fmt.Sprintf(" (did you mean %s.%s?)", module, name), ""
		}
	}
	candidates := slices.Concat(boundNames(file, src), predeclared, starlark.Universe.Keys())
	return msg + DidYouMean(name, candidates), ""
}

// boundNames returns the names that a file defines, in the order of the text.
func boundNames(path, src string) []string {
	f, err := dialect.Options.Parse(path, src, 0)
	if err != nil {
		return nil
	}
	var names []string
	bind := func(n syntax.Node) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok {
				names = append(names, id.Name)
			}
			return true
		})
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			bind(n.LHS)
		case *syntax.DefStmt:
			bind(n.Name)
			for _, p := range n.Params {
				bind(p)
			}
		case *syntax.ForStmt:
			bind(n.Vars)
		case *syntax.ForClause:
			bind(n.Vars)
		case *syntax.LoadStmt:
			for _, id := range n.To {
				bind(id)
			}
		}
		return true
	})
	return names
}

// Resolve explains an error of the resolver, such as a statement in the wrong place.
func Resolve(msg string) (plain, mend string) {
	for _, x := range []struct{ has, mend string }{
		{"can't assign to", "only a name, an element or an attribute can be left of ="},
		{"return statement not within a function", "to end the evaluation early, write exit()"},
		{"load statement within a", "load must be at the top level of the file; load_dynamic('path') loads in a function"},
		{"break not in a loop", "exit() ends the evaluation, return ends a function"},
		{"required parameter may not follow", "put parameters with a default after those without"},
		{"positional argument may not follow", "put arguments without a keyword first: f(a, b=1)"},
		{"keyword argument", ""},
	} {
		if strings.Contains(msg, x.has) {
			return msg, x.mend
		}
	}
	return msg, ""
}

// Runtime returns the mend of an error of the interpreter that puzzles newcomers, or "".
func Runtime(msg string) string {
	for _, x := range []struct {
		has  []string
		mend string
	}{
		{[]string{"unknown binary op: string + "}, "str(x) converts any value to a string: 'a' + str(x)"},
		{[]string{"unknown binary op: ", " + string"}, "str(x) converts any value to a string: str(x) + 'a'"},
		{[]string{"unknown binary op: ", "dict + dict"}, "a | b joins two dicts"},
		{[]string{"unknown binary op: ", "list", "+"}, "both sides must be lists: list + [x]"},
		{[]string{"not in dict"}, "d.get('key', default) works without the key"},
		{[]string{"invalid call of non-function"}, "only functions can be called; does a variable have the name of a function?"},
		{[]string{"string value is not iterable"}, "'text'.elems() are the characters of a string; a list of one string is ['text']"},
		{[]string{"string", "is not iterable"}, "'text'.elems() are the characters of a string; a list of one string is ['text']"},
		{[]string{"frozen list"}, "values from a loaded file cannot be changed; change a copy: list(x), dict(x)"},
		{[]string{"frozen hash table"}, "values from a loaded file cannot be changed; change a copy: list(x), dict(x)"},
		{[]string{"referenced before assignment"}, "assign it a value on every path that leads here"},
		{[]string{"not enough values to unpack"}, "the list on the right is shorter than the names on the left"},
		{[]string{"out of range"}, "len(list) is its length; indexes begin at 0"},
		{[]string{"NoneType has no"}, "the value is None: compare it with None first"},
	} {
		if containsAll(msg, x.has) {
			return x.mend
		}
	}
	return ""
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
