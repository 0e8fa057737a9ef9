package logline

import (
	"slices"
	"strings"
)

// Place is a reference to a line of a source file.
type Place struct {
	// File is the path as the line has it, without "file://". For a frame of Java it is the path that follows from the class:
	// "com/x/Foo.java".
	File string
	// Line and Column count from 1; Column is 0 if there is none.
	Line, Column int
	// Start and End are the range of the reference in bytes, in the line without escape sequences, as Plain returns it.
	Start, End int
}

// maxPath is the greatest length of a path in bytes.
const maxPath = 512

// Places returns the references to lines of source files in a line, in their order: "main.go:41:2", `File "x.py", line 3`,
// "x.ts(4,7)", "/src/x.cs:line 12", "x.sh: line 3", "/app/x.php on line 3". Only names with the ending of a source, configuration or text
// file count, and names such as Dockerfile, so that addresses and times are no places.
func Places(text string) (places []Place) {
	t := plain(text, maxPlaces)
	done := 0 // where the last place ends
	for i := 1; i < len(t); i++ {
		var p Place
		switch t[i] {
		case ':':
			switch {
			case digit(at(t, i+1)):
				p = colon(t, i, i+1)
			case strings.HasPrefix(t[i:], ":line ") && digit(at(t, i+6)):
				p = colon(t, i, i+6)
			case strings.HasPrefix(t[i:], ": line ") && digit(at(t, i+7)): // a shell
				p = colon(t, i, i+7)
			}
		case '(':
			if digit(at(t, i+1)) {
				p = parenthesis(t, i)
			}
		case '"':
			if strings.HasPrefix(t[i:], `", line `) && digit(at(t, i+8)) {
				p = quotedFile(t, i)
			}
		case ' ':
			if strings.HasPrefix(t[i:], " on line ") && digit(at(t, i+9)) {
				p = colon(t, i, i+9)
			}
		}
		if p.File != "" && p.Start >= done {
			places = append(places, p)
			done = p.End
			i = p.End - 1
		}
	}
	return places
}

// colon reads a place whose path ends at i and whose line number begins at n.
func colon(t string, i, n int) (p Place) {
	start, file := path(t, i)
	if file == "" {
		return Place{}
	}
	p = Place{File: file, Start: start}
	if p.Line, p.End = lineNumber(t, n); p.Line == 0 {
		return Place{}
	}
	if at(t, p.End) == ':' && digit(at(t, p.End+1)) {
		if c, end := lineNumber(t, p.End+1); c > 0 {
			p.Column, p.End = c, end
		}
	}
	if afterLine[at(t, p.End)] {
		return Place{}
	}
	if slices.ContainsFunc([]string{".java", ".kt", ".scala"}, func(ending string) bool { return strings.HasSuffix(file, ending) }) {
		p.File = ofClass(t, start, file)
	}
	return p
}

// parenthesis reads "x.ts(4,7)", whose path ends at i.
func parenthesis(t string, i int) (p Place) {
	start, file := path(t, i)
	if file == "" {
		return Place{}
	}
	p = Place{File: file, Start: start}
	p.Line, p.End = lineNumber(t, i+1)
	if p.Line > 0 && strings.IndexByte(",:", at(t, p.End)) >= 0 {
		n := blanks(t, p.End+1)
		if !digit(at(t, n)) {
			return Place{}
		}
		p.Column, p.End = lineNumber(t, n)
	}
	if p.Line == 0 || at(t, p.End) != ')' {
		return Place{}
	}
	p.End++
	return p
}

// quotedFile reads `File "x.py", line 3`, whose path ends at i.
func quotedFile(t string, i int) (p Place) {
	start := strings.LastIndexByte(t[max(0, i-maxPath):i], '"')
	if start < 0 {
		return Place{}
	}
	start += max(0, i-maxPath) + 1
	if start == i || t[start] == '<' { // <string>, <frozen …>
		return Place{}
	}
	p = Place{File: t[start:i], Start: start}
	if p.Line, p.End = lineNumber(t, i+8); p.Line == 0 {
		return Place{}
	}
	return p
}

func lineNumber(t string, i int) (n, end int) {
	d := digits(t, i)
	if d > 7 {
		return 0, i
	}
	for j := i; j < i+d; j++ {
		n = 10*n + int(t[j]-'0')
	}
	return n, i + d
}

// path returns the source file whose path ends at end, and where it begins; "" if the text before end is none.
func path(t string, end int) (start int, file string) {
	start = end - pathBytes.before(t, end, maxPath)
	if drive(t, start) && rooted(t, start) {
		start -= len("C:")
	}
	file = t[start:end]
	if strings.HasPrefix(file, "//") && at(t, start-1) == ':' {
		if !strings.HasSuffix(t[:start-1], "file") {
			return 0, ""
		}
		start, file = start-len("file:"), file[2:]
	}
	bare := strings.TrimLeft(file, "-=+") // --file=x, " -> x"
	start, file = start+len(file)-len(bare), bare
	if i := strings.IndexByte(file, '='); i > 0 {
		start, file = start+i+1, file[i+1:]
	}
	if !sourceFile(file) {
		return 0, ""
	}
	return start, file
}

var (
	pathBytes  = classOf(small + capital + decimal + `/._-\@+~$%=`).andBeyond()
	classBytes = classOf(small + capital + decimal + "._$<>")
	// afterLine are characters that no number of a line has behind it.
	afterLine = classOf(small + capital + decimal + "_/")
)

// drive reports whether the name of a drive of Windows stands before i: "C:".
func drive(t string, i int) bool {
	if at(t, i-1) != ':' || !letter(at(t, i-2)) {
		return false
	}
	return !alnum(at(t, i-3))
}

// rooted reports whether an absolute path begins at i, and no address.
func rooted(t string, i int) bool {
	return at(t, i) == '\\' || at(t, i) == '/' && at(t, i+1) != '/'
}

// sourceFile reports whether a path names a file that people edit.
func sourceFile(file string) bool {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	for _, known := range []string{"Dockerfile", "Containerfile", "Tiltfile", "Makefile", "makefile", "Jenkinsfile", "Vagrantfile", "Procfile", "Gemfile", "Rakefile",
		"BUILD", "WORKSPACE", "Justfile", "justfile"} {
		if rest, ok := strings.CutPrefix(name, known); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || dot == 0 && len(file) == len(name) {
		return false
	}
	switch strings.ToLower(name[dot+1:]) {
	case "go", "py", "pyi", "pyx", "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "astro", "rs", "java", "kt", "kts", "scala", "groovy", "gradle", "clj",
		"rb", "rake", "erb", "gemspec", "php", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "m", "mm", "swift", "cs", "fs", "vb", "csproj", "cshtml", "razor", "ex", "exs",
		"heex", "erl", "hs", "ml", "mli", "lua", "pl", "pm", "r", "jl", "dart", "zig", "nim", "sh", "bash", "zsh", "fish", "ps1", "sql", "html", "htm", "css", "scss", "sass",
		"less", "yaml", "yml", "json", "jsonc", "toml", "xml", "ini", "cfg", "conf", "env", "properties", "proto", "tf", "tfvars", "hcl", "graphql", "gql", "star", "bzl", "bazel",
		"cmake", "mk", "templ", "tmpl", "tpl", "gotmpl", "md", "mdx", "txt", "mod", "sum", "work", "lock", "s", "asm", "cue", "rego", "prisma", "dockerfile":
		return true
	}
	return false
}

// ofClass returns the path of a Java file from the method before it: "com.x.Foo.bar(Foo.java:12)".
func ofClass(t string, start int, file string) string {
	if at(t, start-1) != '(' || strings.ContainsAny(file, `/\`) {
		return file
	}
	i := start - 1 - classBytes.before(t, start-1, maxPath-1)
	var dirs []string
	for _, p := range strings.Split(t[i:start-1], ".") {
		if p == "" || !lower(p[0]) {
			break
		}
		dirs = append(dirs, p)
	}
	if parts := strings.Count(t[i:start-1], "."); len(dirs) == 0 || len(dirs) > parts {
		return file
	}
	return strings.Join(append(dirs, file), "/")
}
