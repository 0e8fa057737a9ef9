// Package stdlib holds the builtins that declare nothing: files, data, paths, environment, output, and calls that are obsolete.
package stdlib

import (
	"os"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

// Builtins are the functions that declare nothing: files, data, the operating system, output.
func Builtins() map[string]eval.Function {
	return map[string]eval.Function{
		// files.go, git.go
		"read_file":      readFile,
		"watch_file":     watchFile,
		"listdir":        listdir,
		"blob":           makeBlob,
		"local_git_repo": localGitRepo,
		// data.go
		"read_json":          readJSON,
		"read_yaml":          readYAML,
		"read_yaml_stream":   readYAMLStream,
		"decode_json":        decodeJSONText,
		"decode_yaml":        decodeYAMLText,
		"decode_yaml_stream": decodeYAMLStreamText,
		"encode_json":        encodeJSON,
		"encode_yaml":        encodeYAMLValue,
		"encode_yaml_stream": encodeYAMLStream,
		// os.go, shlex.go
		"os.getcwd":        getcwd,
		"os.getenv":        getenv,
		"os.putenv":        putenv,
		"os.unsetenv":      unsetenv,
		"os.path.abspath":  pathFunction(pathAbs),
		"os.path.basename": pathFunction(pathBase),
		"os.path.dirname":  pathFunction(pathDir),
		"os.path.exists":   pathFunction(pathExists),
		"os.path.realpath": pathFunction(pathReal),
		"os.path.relpath":  relpath,
		"os.path.join":     pathJoin,
		"shlex.quote":      quoteWord,
		// output.go
		"fail": failWith,
		"warn": warn,
		"exit": exit,
		// obsolete.go
		"analytics_settings":            ignored,
		"experimental_analytics_report": ignored,
		"experimental_telemetry_cmd":    obsolete,
		"experimental_metrics_settings": obsolete,
		"set_team":                      ignored,
		"disable_snapshots":             ignored,
		"enable_feature":                feature,
		"disable_feature":               feature,
		"k8s_resource_assembly_version": assemblyVersion,
	}
}

// Constants are the predeclared names that are values; env is os.environ.
func Constants(env *value.Environ) starlark.StringDict {
	exe, _ := os.Executable()
	return starlark.StringDict{
		"struct":         starlark.NewBuiltin("struct", starlarkstruct.Make),
		"module":         starlark.NewBuiltin("module", starlarkstruct.MakeModule),
		"os.environ":     env,
		"os.name":        osName(),
		"sys.argv":       value.Strings(os.Args),
		"sys.executable": starlark.String(exe),
	}
}
