package tiltfile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/identity"
)

// sampleArgs are valid arguments for each builtin that uses Unpack, after sampleSetup. Tests change one of them at a
// time.
var sampleArgs = map[string]string{
	"allow_k8s_contexts":             `contexts=['kind']`,
	"blob":                           `input='x'`,
	"ci_settings":                    ``,
	"cluster":                        `name='kind-other'`,
	"config.clear_enabled_resources": ``,
	"config.define_bool":             `name='x'`,
	"config.define_object":           `name='x'`,
	"config.define_string":           `name='x'`,
	"config.define_string_list":      `name='x'`,
	"config.parse":                   ``,
	"config.set_enabled_resources":   `resources=['server']`,
	"custom_build":                   `ref='web', command='make', deps=['src']`,
	"dc_resource":                    `name='db'`,
	"decode_json":                    `json='{}'`,
	"decode_yaml":                    `yaml='{}'`,
	"decode_yaml_stream":             `yaml='{}'`,
	"default_registry":               `host='localhost:5000'`,
	"image_cache":                    `registry='localhost:5000'`,
	"builder":                        `at='tcp://build:1234'`,
	"docker_build":                   `ref='web', context='src'`,
	"docker_compose":                 `configPaths='compose.yml'`,
	"docker_prune_settings":          ``,
	"project":                        `name='shop'`,
	"ledger_settings":                `url='kube://tools'`,
	"disable_feature":                `feature_name='snapshots'`,
	"enable_feature":                 `feature_name='snapshots'`,
	"encode_json":                    `obj={}`,
	"encode_yaml":                    `obj={}`,
	"encode_yaml_stream":             `objs=[{}]`,
	"exec_action":                    `command=['true']`,
	"exit":                           ``,
	"fall_back_on":                   `paths=['src/go.mod']`,
	"filter_yaml":                    `yaml='app.yaml'`,
	"helm":                           `path='chart'`,
	"http_get_action":                `port=80`,
	"include":                        `path='lib.tilt'`,
	"initial_sync":                   ``,
	"k8s_context":                    ``,
	"k8s_custom_deploy":              `name='deployed', apply_cmd='true', delete_cmd='true', deps=['src']`,
	"k8s_image_json_path":            `paths=['{.spec.image}'], kind='App'`,
	"ref":                            `object='service/db', path='spec.clusterIP'`,
	"k8s_kind":                       `kind='App'`,
	"k8s_namespace":                  ``,
	"k8s_resource":                   `workload='app'`,
	"k8s_resource_assembly_version":  `version=2`,
	"k8s_yaml":                       `yaml='more.yaml'`,
	"kustomize":                      `path='base'`,
	"link":                           `url='localhost:80'`,
	"listdir":                        `dir='src'`,
	"load_dynamic":                   `path='lib.tilt'`,
	"local":                          `command='true'`,
	"local_git_repo":                 `path='repo'`,
	"local_resource":                 `name='task', cmd='true'`,
	"os.getcwd":                      ``,
	"os.getenv":                      `key='X'`,
	"os.path.abspath":                `path='x'`,
	"os.path.basename":               `path='x'`,
	"os.path.dirname":                `path='x'`,
	"os.path.exists":                 `path='x'`,
	"os.path.realpath":               `path='x'`,
	"os.path.relpath":                `path='x'`,
	"os.putenv":                      `key='X', value='y'`,
	"os.unsetenv":                    `key='X'`,
	"port_forward":                   `local_port=80`,
	"probe":                          `exec=exec_action(['true'])`,
	"read_file":                      `path='app.yaml'`,
	"read_json":                      `path='x.json'`,
	"read_yaml":                      `path='app.yaml'`,
	"read_yaml_stream":               `path='app.yaml'`,
	"restart_container":              ``,
	"restart_process":                ``,
	"run":                            `cmd='make'`,
	"secret_settings":                ``,
	"shlex.quote":                    `s='x'`,
	"sync":                           `local_path='src', remote_path='/src'`,
	"tcp_socket_action":              `port=80`,
	"test":                           `name='task', cmd='true'`,
	"trigger_mode":                   `trigger_mode=TRIGGER_MODE_MANUAL`,
	"update_settings":                ``,
	"version_settings":               ``,
	"warn":                           `msg='x'`,
	"watch_file":                     `path='x'`,
	"watch_settings":                 `ignore=['x']`,
	"workload_to_resource_function":  `fn=lambda id: id.name`,

	"v1alpha1.cmd":                                `name='x', args=['true']`,
	"v1alpha1.config_map":                         `name='x'`,
	"v1alpha1.config_map_disable_source":          `name='x', key='isDisabled'`,
	"v1alpha1.disable_source":                     `config_map={'name': 'x', 'key': 'isDisabled'}`,
	"v1alpha1.exec_action":                        `command=['true']`,
	"v1alpha1.extension":                          `name='x', repo_name='r', repo_path='lib'`,
	"v1alpha1.extension_repo":                     `name='r', url='file:///does/not/exist'`,
	"v1alpha1.file_watch":                         `name='x', watched_paths=['src']`,
	"v1alpha1.forward":                            `container_port=80`,
	"v1alpha1.handler":                            `exec={'command': ['true']}`,
	"v1alpha1.http_get_action":                    `port=80`,
	"v1alpha1.http_header":                        `name='X'`,
	"v1alpha1.ignore_def":                         `base_path='src'`,
	"v1alpha1.kubernetes_apply":                   `name='x', yaml='a'`,
	"v1alpha1.kubernetes_apply_cmd":               `args=['true']`,
	"v1alpha1.kubernetes_discovery":               `name='x', watches=[{'namespace': 'default'}]`,
	"v1alpha1.kubernetes_discovery_template_spec": ``,
	"v1alpha1.kubernetes_image_locator":           `object_selector={}, path='{.a}'`,
	"v1alpha1.kubernetes_image_object_descriptor": `repo_field='a', tag_field='b'`,
	"v1alpha1.kubernetes_watch_ref":               `namespace='default'`,
	"v1alpha1.label_selector":                     ``,
	"v1alpha1.label_selector_requirement":         `key='a', operator='Exists'`,
	"v1alpha1.object_selector":                    ``,
	"v1alpha1.pod_log_stream_template_spec":       ``,
	"v1alpha1.port_forward_template_spec":         `forwards=[{'container_port': 80}]`,
	"v1alpha1.probe":                              `handler={'exec': {'command': ['true']}}`,
	"v1alpha1.restart_on_spec":                    ``,
	"v1alpha1.start_on_spec":                      ``,
	"v1alpha1.tcp_socket_action":                  `port=80`,
	"v1alpha1.ui_bool_input_spec":                 ``,
	"v1alpha1.ui_button":                          `name='x', text='X', location={'component_type': 'global', 'component_id': 'nav'}`,
	"v1alpha1.ui_choice_input_spec":               `choices=['a']`,
	"v1alpha1.ui_component_location":              `component_id='nav', component_type='global'`,
	"v1alpha1.ui_hidden_input_spec":               ``,
	"v1alpha1.ui_input_spec":                      `name='a', text={}`,
	"v1alpha1.ui_text_input_spec":                 ``,
}

// sampleUse is code that must follow some samples: a step that is not part of a live update is an error.
var sampleUse = func() map[string]string {
	out := map[string]string{}
	for _, step := range []string{"fall_back_on", "initial_sync", "restart_container", "restart_process", "run", "sync"} {
		out[step] = "docker_build('other', 'src', live_update=[x])\n"
	}
	return out
}()

// sampleSetup declares the objects that the samples refer to.
const sampleSetup = "k8s_yaml('app.yaml')\nlocal_resource('server', serve_cmd='sleep 1')\n"

// sampleFiles are the files that the samples refer to.
var sampleFiles = map[string]string{
	"app.yaml":                `{apiVersion: v1, kind: Pod, metadata: {name: app}, spec: {containers: [{name: a, image: web}]}}`,
	"more.yaml":               `{apiVersion: v1, kind: Pod, metadata: {name: more}, spec: {containers: [{name: a, image: web}]}}`,
	"x.json":                  `{}`,
	"lib.tilt":                "x = 1\n",
	"compose.yml":             "name: shop\nservices: {db: {image: postgres}}\n",
	"src/Dockerfile":          "FROM scratch\n",
	"chart/Chart.yaml":        "name: chart\nversion: 1.0.0\napiVersion: v2\n",
	"chart/templates/x.yaml":  "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
	"base/kustomization.yaml": "resources: [x.yaml]\n",
	"base/x.yaml":             "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
	"repo/.git/HEAD":          "",
}

// sampleFolder writes the files, and programs that replace helm and kustomize.
func sampleFolder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range sampleFiles {
		writeFile(t, filepath.Join(dir, path), []byte(content))
	}
	writeTool(t, filepath.Join(dir, "bin", "helm"))
	writeTool(t, filepath.Join(dir, "bin", "kustomize"))
	return dir
}

// sampleProgram calls a builtin with its sample's arguments and further ones, and prints the result. If an argument is
// given twice, the last one counts.
func sampleProgram(name string, more ...string) string {
	setup := sampleSetup
	if name == "dc_resource" {
		setup += "docker_compose('compose.yml')\n"
	}
	if name == identity.ProjectCall || name == identity.LedgerCall { // they are read before the evaluation, as they stand
		setup += name + "(" + sampleArgs[name] + ")\n"
	}
	return setup + "args = dict(" + sampleArgs[name] + ")\n" + "args.update(dict(" + strings.Join(more, ", ") + "))\n" +
		"x = " + name + "(**args)\nprint(type(x), x)\n" + sampleUse[name]
}

// runSample evaluates a program in a sample folder. It returns the result and the printed output.
func runSample(t testing.TB, dir, program string) (said string, err error) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "Tiltfile"), []byte(program))
	var log strings.Builder
	res := Load(t.Context(), Options{Path: filepath.Join(dir, "Tiltfile"), ExtensionDir: filepath.Join(dir, ".data"), Clusters: anyContext,
		Env:    []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"},
		Logger: logstore.Func(func(_ logstore.Level, text string) { log.WriteString(text) })})
	return render(res, dir) + log.String(), res.Err
}

// TestEveryBuiltinHasSample checks that the table is complete and its calls work.
func TestEveryBuiltinHasSample(t *testing.T) {
	dir := sampleFolder(t)
	for _, name := range builtinNames() {
		_, unpacks := parametersOf(name)
		if _, ok := sampleArgs[name]; ok != unpacks {
			t.Errorf("%s: sampleArgs has it: %v, it unpacks arguments: %v", name, ok, unpacks)
		} else if _, err := runSample(t, dir, sampleProgram(name)); unpacks && err != nil {
			t.Errorf("%s(%s): %v", name, sampleArgs[name], err)
		}
	}
	for name := range sampleArgs {
		if !slices.Contains(builtinNames(), name) {
			t.Errorf("there is no builtin %s", name)
		}
	}
}
