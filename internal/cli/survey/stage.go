package survey

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/hone-dev/hone/internal/base/words"
)

// stage is the last stage of a Dockerfile, as far as the survey needs it.
type stage struct {
	name    string
	workdir string
	// copies are the copies from the project, and fetched are the copies from other stages.
	copies, fetched []copied
	// commands are all commands that it runs, and after are the commands after the last copy from the project.
	commands, after []string
	entrypoint, cmd []string
	// env are its variables, and base the image that it begins with.
	env  []variable
	base string
	// before are the stages before it.
	before []stage
}

// copied is one copy of a COPY instruction. A file goes into the destination if that is a folder; of a folder, only the content
// does.
type copied struct {
	from, to string
	into     bool
	// stage is the name of the stage that it is copied from; empty for the project.
	stage string
}

// finalStage reads the last stage of a Dockerfile.
func finalStage(content []byte) (stage, error) {
	parsed, err := parser.Parse(bytes.NewReader(content))
	if err != nil {
		return stage{}, err
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return stage{}, err
	}
	if len(stages) == 0 {
		return stage{}, fmt.Errorf("it has no FROM")
	}
	var before []stage
	for _, s := range stages[:len(stages)-1] {
		before = append(before, stageOf(s, before))
	}
	return stageOf(stages[len(stages)-1], before), nil
}

func stageOf(of instructions.Stage, before []stage) stage {
	s := stage{name: of.Name, workdir: "/", before: before, base: of.BaseName}
	if i := slices.IndexFunc(before, func(b stage) bool { return b.name != "" && strings.EqualFold(b.name, of.BaseName) }); i >= 0 {
		base := before[i]
		s.workdir, s.copies, s.fetched, s.commands, s.after, s.entrypoint, s.cmd = base.workdir, slices.Clone(base.copies), slices.Clone(base.fetched),
			slices.Clone(base.commands), slices.Clone(base.after), base.entrypoint, base.cmd
		s.env, s.base = slices.Clone(base.env), base.base
	}
	for _, c := range of.Commands {
		switch c := c.(type) {
		case *instructions.WorkdirCommand:
			s.workdir = resolve(s.workdir, c.Path)
		case *instructions.CopyCommand:
			for _, from := range c.SourcePaths {
				if strings.ContainsAny(from, "*?[$") || strings.Contains(c.DestPath, "$") {
					continue
				}
				into := len(c.SourcePaths) > 1 || intoFolder.MatchString(c.DestPath)
				if c.From != "" {
					s.fetched = append(s.fetched, copied{path.Clean(from), resolve(s.workdir, c.DestPath), into, c.From})
					continue
				}
				s.copies, s.after = append(s.copies, copied{path.Clean(from), resolve(s.workdir, c.DestPath), into, ""}), nil
			}
		case *instructions.RunCommand:
			line := strings.Join(c.CmdLine, " ")
			s.commands, s.after = append(s.commands, line), append(s.after, line)
		case *instructions.EnvCommand:
			for _, v := range c.Env {
				s.env = append(slices.DeleteFunc(s.env, func(e variable) bool { return e.name == v.Key }), variable{v.Key, unquoted(v.Value)})
			}
		case *instructions.EntrypointCommand:
			s.entrypoint = argv(c.ShellDependantCmdLine)
		case *instructions.CmdCommand:
			s.cmd = argv(c.ShellDependantCmdLine)
		}
	}
	return s
}

func argv(line instructions.ShellDependantCmdLine) []string {
	if line.PrependShell {
		return []string{"sh", "-c", strings.Join(line.CmdLine, " ")}
	}
	return line.CmdLine
}

func resolve(workdir, to string) string {
	if path.IsAbs(to) {
		return path.Clean(to)
	}
	return path.Join(workdir, to)
}

// intoFolder matches a destination that COPY takes for a folder.
var intoFolder = regexp.MustCompile(`^\.\.?$|/$`)

// programArchives are the extensions of files that a runtime takes as the program.
var programArchives = []string{".jar", ".dll"}

// fetches returns the copy that brings a file from another stage.
func (s stage) fetches(file string) (copied, bool) {
	for _, c := range s.fetched {
		if c.to == file || strings.HasPrefix(file, c.to+"/") {
			return c, true
		}
		below := c.into && strings.HasPrefix(file, strings.TrimSuffix(c.to, "/")+"/")
		if below && (path.Base(c.from) == path.Base(file) || path.Ext(c.from) == "") {
			return c, true
		}
	}
	return copied{}, false
}

// runs reports whether the stage runs a program, so that containers have it.
func (s stage) runs(program string) bool {
	return slices.ContainsFunc(s.commands, func(c string) bool { return slices.Contains(strings.Fields(c), program) })
}

// command returns the command line of the containers.
func (s stage) command() []string {
	return slices.Concat(s.entrypoint, s.cmd)
}

// interpreters tell a kind by the program that containers run, for projects without a manifest.
var interpreters = []struct {
	name string
	kind Kind
}{{"python", Python}, {"node", Node}, {"ruby", Ruby}, {"php", PHP}}

// kind returns the kind of the program that the stage starts; empty if it is unknown.
func (s stage) kind() Kind {
	command := s.command()
	if len(command) == 0 {
		return ""
	}
	for _, i := range interpreters {
		// python3.13 is python.
		if strings.TrimRight(path.Base(command[0]), "0123456789.") == i.name {
			return i.kind
		}
	}
	return ""
}

// inStage finds a live update for a compiled project: the stage that compiles runs in the cluster, and its last commands run again
// there when a source file has changed. The last stage must run a program, a jar or a DLL that it copies from a named stage, or has
// compiled itself.
func (l *looker) inStage(im *Image, final stage) bool {
	command := final.command()
	if len(command) == 0 {
		return false
	}
	from, entrypoint := final, slices.Clone(command)
	for n, word := range command {
		file := word
		if !path.IsAbs(file) && (strings.Contains(file, "/") || slices.Contains(programArchives, path.Ext(file))) {
			file = resolve(final.workdir, file)
		}
		c, ok := final.fetches(file)
		if !ok {
			continue
		}
		i := slices.IndexFunc(final.before, func(s stage) bool { return s.name != "" && strings.EqualFold(s.name, c.stage) })
		if i < 0 {
			return false
		}
		from, im.Target = final.before[i], final.before[i].name
		if rest := strings.TrimPrefix(file, c.to); c.into && path.Base(c.from) == path.Base(file) || rest == "" {
			entrypoint[n] = c.from // a file, not a folder
		} else {
			entrypoint[n] = path.Join(c.from, rest)
		}
		break
	}
	var syncs []Step
	for _, c := range from.copies {
		if from := path.Join(im.Context, c.from); l.exists(from) {
			to := c.to
			if info, err := fs.Stat(l.files, from); err == nil && !info.IsDir() && c.into {
				to = path.Join(to, path.Base(from))
			}
			syncs = append(syncs, Step{From: from, To: to})
		}
	}
	if len(syncs) == 0 || len(from.after) == 0 {
		im.Target = ""
		return false
	}
	syncs = reduced(syncs)
	im.Live = append(slices.Clone(syncs), Step{Run: "cd " + from.workdir + " && " + strings.Join(from.after, " && ")})
	if im.Restart = true; im.Target != "" {
		im.Entrypoint = l.withEnv(im, final.missing(from), entrypoint)
	}
	where := "in the container"
	if im.Target != "" {
		where = "in the container, which runs stage " + im.Target + " for that"
	}
	im.Why = fmt.Sprintf("a saved file is compiled %s; quicker is to compile in a local_resource, and to sync what it makes", where)
	l.note(Guessed, "%s: %s is compiled %s", im.file(), im.Kind, where)
	return true
}

// unquoted returns a value without the quotes around it.
func unquoted(value string) string { return words.Unquoted(value) }

// variable is one of an image's environment.
type variable struct{ name, value string }

// missing returns the variables of the stage that another stage lacks. It adds the variables of its base image that determine the
// port of a server: Microsoft's images for ASP.NET set one, but their images with the SDK do not.
func (s stage) missing(in stage) []variable {
	out := slices.DeleteFunc(slices.Clone(s.env), func(v variable) bool { return slices.Contains(in.env, v) })
	listens := func(v variable) bool {
		return slices.Contains([]string{"ASPNETCORE_URLS", "ASPNETCORE_HTTP_PORTS", "URLS", "HTTP_PORTS"}, v.name)
	}
	if name, tag, _ := strings.Cut(path.Base(s.base), ":"); name == "aspnet" && !slices.ContainsFunc(slices.Concat(s.env, in.env), listens) {
		major, _, _ := strings.Cut(tag, ".")
		if n, err := strconv.Atoi(major); err == nil && n < 8 {
			out = append(out, variable{"ASPNETCORE_URLS", "http://+:80"})
		} else {
			out = append(out, variable{"ASPNETCORE_HTTP_PORTS", "8080"})
		}
	}
	return out
}

// shellName matches the names that a shell can export. Docker takes others, such as those with dots.
var shellName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// withEnv returns a command that sets variables, unless the container has them, and runs another one. It notes the variables that
// it cannot set.
func (l *looker) withEnv(im *Image, env []variable, command []string) []string {
	var script strings.Builder
	for _, v := range env {
		if v.name == "PATH" || !shellName.MatchString(v.name) || strings.ContainsAny(v.value, "\"\\$`}") {
			l.note(LeftOut, "%s: variable %s of the last stage is not set in stage %s", im.file(), v.name, im.Target)
			continue
		}
		fmt.Fprintf(&script, "export %s=\"${%s-%s}\" && ", v.name, v.name, v.value)
	}
	if script.Len() == 0 {
		return command
	}
	return []string{"sh", "-c", script.String() + "exec " + shellquote.Join(command...)}
}
