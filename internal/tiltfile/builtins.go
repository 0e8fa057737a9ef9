package tiltfile

import (
	"os"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/pkg/model"
)

// builtins are the functions of the language by name; a dot puts one into a module. To add a group of builtins, add a
// file with their functions, and their names here.
var builtins = map[string]function{
	// images.go
	"docker_build":     dockerBuildBuiltin,
	"custom_build":     customBuildBuiltin,
	"default_registry": defaultRegistryBuiltin,
	// liveupdate.go
	"sync":              syncBuiltin,
	"run":               runBuiltin,
	"fall_back_on":      fallBackOnBuiltin,
	"restart_container": restartContainerBuiltin,
	"restart_process":   restartProcessBuiltin,
	"initial_sync":      initialSyncBuiltin,
	// k8s.go, k8s_resource.go, portforward.go, links.go
	"k8s_yaml":                      k8sYAMLBuiltin,
	"filter_yaml":                   filterYAMLBuiltin,
	"workload_to_resource_function": workloadFunctionBuiltin,
	"k8s_resource":                  k8sResourceBuiltin,
	"port_forward":                  portForwardBuiltin,
	"link":                          linkBuiltin,
	"trigger_mode":                  triggerModeBuiltin,
	// compose.go, compose_resource.go
	"docker_compose": dockerComposeBuiltin,
	"dc_resource":    dcResourceBuiltin,
	// k8s_kind.go, k8s_custom_deploy.go
	"k8s_kind":            k8sKindBuiltin,
	"k8s_image_json_path": k8sImageJSONPathBuiltin,
	"k8s_custom_deploy":   k8sCustomDeployBuiltin,
	// helm.go, kustomize.go
	"helm":      helmBuiltin,
	"kustomize": kustomizeBuiltin,
	// gate.go
	"allow_k8s_contexts": allowContextsBuiltin,
	"k8s_context":        contextBuiltin,
	"k8s_namespace":      namespaceBuiltin,
	// local.go, local_resource.go, probe.go
	"local":             localBuiltin,
	"local_resource":    localResourceBuiltin,
	"test":              testBuiltin,
	"probe":             probeBuiltin,
	"exec_action":       execActionBuiltin,
	"http_get_action":   httpGetActionBuiltin,
	"tcp_socket_action": tcpSocketActionBuiltin,
	// load.go
	"include":      includeBuiltin,
	"load_dynamic": loadDynamicBuiltin,
	// files.go, blob.go, ignores.go, git.go
	"read_file":      readFileBuiltin,
	"watch_file":     watchFileBuiltin,
	"listdir":        listdirBuiltin,
	"blob":           blobBuiltin,
	"watch_settings": watchSettingsBuiltin,
	"local_git_repo": localGitRepoBuiltin,
	// data.go
	"read_json":          readJSONBuiltin,
	"read_yaml":          readYAMLBuiltin,
	"read_yaml_stream":   readYAMLStreamBuiltin,
	"decode_json":        decodeJSONBuiltin,
	"decode_yaml":        decodeYAMLBuiltin,
	"decode_yaml_stream": decodeYAMLStreamBuiltin,
	"encode_json":        encodeJSONBuiltin,
	"encode_yaml":        encodeYAMLBuiltin,
	"encode_yaml_stream": encodeYAMLStreamBuiltin,
	// config.go
	"config.define_string":           defineBuiltin(kindString),
	"config.define_string_list":      defineBuiltin(kindStringList),
	"config.define_bool":             defineBuiltin(kindBool),
	"config.define_object":           defineBuiltin(kindObject),
	"config.parse":                   configParseBuiltin,
	"config.set_enabled_resources":   setEnabledBuiltin,
	"config.clear_enabled_resources": clearEnabledBuiltin,
	// os.go, shlex.go
	"os.getcwd":        getcwdBuiltin,
	"os.getenv":        getenvBuiltin,
	"os.putenv":        putenvBuiltin,
	"os.unsetenv":      unsetenvBuiltin,
	"os.path.abspath":  pathFunction(pathAbs),
	"os.path.basename": pathFunction(pathBase),
	"os.path.dirname":  pathFunction(pathDir),
	"os.path.exists":   pathFunction(pathExists),
	"os.path.realpath": pathFunction(pathReal),
	"os.path.relpath":  relpathBuiltin,
	"os.path.join":     pathJoinBuiltin,
	"shlex.quote":      quoteBuiltin,
	// output.go
	"fail": failBuiltin,
	"warn": warnBuiltin,
	"exit": exitBuiltin,
	// settings.go
	"update_settings":       updateSettingsBuiltin,
	"ci_settings":           ciSettingsBuiltin,
	"secret_settings":       secretSettingsBuiltin,
	"docker_prune_settings": pruneSettingsBuiltin,
	"version_settings":      versionSettingsBuiltin,
	// obsolete.go
	"analytics_settings":            ignored,
	"experimental_analytics_report": ignored,
	"experimental_telemetry_cmd":    obsolete,
	"experimental_metrics_settings": obsolete,
	"set_team":                      ignored,
	"disable_snapshots":             ignored,
	"enable_feature":                featureBuiltin,
	"disable_feature":               featureBuiltin,
	"k8s_resource_assembly_version": assemblyVersionBuiltin,
}

// constants are the other predeclared names; those with a dot stand in a module.
func (s *state) constants() starlark.StringDict {
	exe, _ := os.Executable()
	return starlark.StringDict{
		"TRIGGER_MODE_AUTO":      triggerMode{model.TriggerAuto, true},
		"TRIGGER_MODE_MANUAL":    triggerMode{model.TriggerManual, true},
		"struct":                 starlark.NewBuiltin("struct", starlarkstruct.Make),
		"module":                 starlark.NewBuiltin("module", starlarkstruct.MakeModule),
		"os.environ":             s.env,
		"os.name":                osName(),
		"sys.argv":               stringValues(os.Args),
		"sys.executable":         starlark.String(exe),
		"config.tilt_subcommand": starlark.String(s.opts.Subcommand),
		"config.main_path":       starlark.String(s.main),
		"config.main_dir":        starlark.String(s.dir()),
	}
}

// buildPredeclared binds the builtins to the evaluation and sorts them into modules.
func (s *state) buildPredeclared() starlark.StringDict {
	root := boundedUniverse()
	for name, v := range s.constants() {
		place(root, "", name, v)
	}
	for name, fn := range builtins {
		place(root, "", name, s.bind(name, fn))
	}
	return root
}

// place puts a value at a dotted name.
func place(members starlark.StringDict, prefix, name string, v starlark.Value) {
	first, rest, nested := strings.Cut(name, ".")
	if !nested {
		members[first] = v
		return
	}
	m, ok := members[first].(*starlarkstruct.Module)
	if !ok {
		m = &starlarkstruct.Module{Name: prefix + first, Members: starlark.StringDict{}}
		members[first] = m
	}
	place(m.Members, prefix+first+".", rest, v)
}
