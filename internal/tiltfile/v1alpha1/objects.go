package v1alpha1

import "slices"

// The kinds of objects that v1alpha1 declares.
const (
	kindCommand             = "Cmd"
	kindConfigMap           = "ConfigMap"
	kindExtension           = "Extension"
	kindExtensionRepo       = "ExtensionRepo"
	kindFileWatch           = "FileWatch"
	kindKubernetesApply     = "KubernetesApply"
	kindKubernetesDiscovery = "KubernetesDiscovery"
	kindButton              = "UIButton"
)

// apiMeta are the fields of every object; the fields of its specification follow.
func apiMeta(spec ...*apiField) []*apiField {
	return slices.Concat([]*apiField{
		{name: "name", kind: fieldText, required: true, meta: true, check: checkAPIName,
			doc: "The object's name, unique among those of its kind."},
		{name: "labels", kind: fieldTextMap, meta: true, doc: "Labels of the object, for selectors."},
		{name: "annotations", kind: fieldTextMap, meta: true,
			doc: "Annotations of the object. tilt.dev/resource names the resource whose log shows its output."},
	}, spec)
}

// apiObjectTypes are the types that declare something.
func apiObjectTypes() []*apiType {
	disable := &apiField{name: "disable_source", kind: fieldOne, of: "disable_source", doc: "What disables the object."}
	restart := &apiField{name: "restart_on", kind: fieldOne, of: "restart_on_spec", doc: "What restarts it."}
	forwards := &apiField{name: "port_forward_template_spec", kind: fieldOne, of: "port_forward_template_spec",
		doc: "The port forwards to open to the pod."}
	logs := &apiField{name: "pod_log_stream_template_spec", kind: fieldOne, of: "pod_log_stream_template_spec",
		doc: "The containers whose logs are shown; all by default."}
	return []*apiType{
		{name: "cmd", kind: kindCommand, doc: "A command that runs on this machine.", declare: declareCommand, fields: apiMeta(
			&apiField{name: "args", kind: fieldTexts, required: true, check: checkArgv,
				doc: "The program and its arguments. There is no shell; to use one, write ['sh', '-c', '…']."},
			&apiField{name: "dir", kind: fieldPath, doc: "The working folder; by default the folder of the calling file."},
			&apiField{name: "env", kind: fieldTexts, check: checkEnv, doc: "Additional environment variables, as 'NAME=value'."},
			&apiField{name: "readiness_probe", kind: fieldOne, of: "probe", doc: "How to check that the command is ready."},
			restart,
			&apiField{name: "start_on", kind: fieldOne, of: "start_on_spec",
				doc: "What starts the command; it does not run before that."},
			disable,
		)},
		{name: "config_map", kind: kindConfigMap, doc: "Data that other objects refer to.", declare: declareConfigMap, fields: apiMeta(
			&apiField{name: "data", kind: fieldTextMap, check: checkConfigKeys, doc: "The data by key."},
		)},
		{name: "extension", kind: kindExtension, doc: "An extension, loaded as ext://NAME or evaluated on its own.", declare: declareExtension, fields: apiMeta(
			&apiField{name: "repo_name", kind: fieldText, required: true, doc: "The extension_repo that contains it."},
			&apiField{name: "repo_path", kind: fieldText, check: checkInside, doc: "The folder of its Tiltfile inside the repo."},
			&apiField{name: "args", kind: fieldTexts, doc: "The arguments of its Tiltfile."},
		)},
		{name: "extension_repo", kind: kindExtensionRepo, doc: "A repository of extensions.", declare: declareExtensionRepo,
			check: checkRepo, fields: apiMeta(
				&apiField{name: "url", kind: fieldText, required: true, doc: "The address: https://… for a git repository, file://… for a folder."},
				&apiField{name: "ref", kind: fieldText, doc: "The branch, tag or commit to use; by default the newest commit."},
				&apiField{name: "load_host", kind: fieldText, check: checkLoadHost, doc: "The first part of the ext:// paths that select this repo."},
				&apiField{name: "git_subpath", kind: fieldText, check: checkInside, doc: "The folder of the git repository that contains the extensions."},
			)},
		{name: "file_watch", kind: kindFileWatch, doc: "Files whose changes restart commands.", declare: declareFileWatch, fields: apiMeta(
			&apiField{name: "watched_paths", kind: fieldPaths, required: true, doc: "The files to watch, and folders with everything below them."},
			&apiField{name: "ignores", kind: fieldMany, of: "ignore_def", doc: "Files to exclude."},
			disable,
		)},
		{name: "kubernetes_apply", kind: kindKubernetesApply, doc: "Objects to apply to the cluster.", declare: declareKept,
			check: checkApply, fields: apiMeta(
				&apiField{name: "yaml", kind: fieldText, doc: "The objects; either this or cmd."},
				&apiField{name: "image_maps", kind: fieldTexts, doc: "The images that the objects depend on."},
				&apiField{name: "image_locators", kind: fieldMany, of: "kubernetes_image_locator", doc: "Where objects of other kinds refer to images."},
				&apiField{name: "timeout", kind: fieldText, check: checkDuration, doc: "How long applying may take ('30s')."},
				&apiField{name: "kubernetes_discovery_template_spec", kind: fieldOne, of: "kubernetes_discovery_template_spec",
					doc: "How to find the pods of the applied objects."},
				forwards, logs,
				&apiField{name: "discovery_strategy", kind: fieldText, check: oneOf("default", "selectors-only"),
					doc: "'default' follows owners and labels, 'selectors-only' only labels."},
				disable,
				&apiField{name: "cmd", kind: fieldOne, of: "kubernetes_apply_cmd", doc: "A command that applies the objects and prints them; either this or yaml."},
				restart,
			)},
		{name: "kubernetes_discovery", kind: kindKubernetesDiscovery, doc: "Pods to find in the cluster.", declare: declareKept, fields: apiMeta(
			&apiField{name: "watches", kind: fieldMany, of: "kubernetes_watch_ref", doc: "The objects whose pods to find."},
			&apiField{name: "extra_selectors", kind: fieldMany, of: "label_selector", doc: "Labels of additional pods."},
			forwards, logs,
		)},
		{name: "ui_button", kind: kindButton, doc: "A button for the user to click.", declare: declareButton, check: checkButton, fields: apiMeta(
			&apiField{name: "location", kind: fieldOne, of: "ui_component_location", required: true, doc: "Where the button is shown."},
			&apiField{name: "text", kind: fieldText, required: true, doc: "The text on the button."},
			&apiField{name: "icon_name", kind: fieldText, doc: "The name of a Material icon."},
			&apiField{name: "icon_svg", kind: fieldText, api: "iconSVG", doc: "An <svg> element of 24 by 24; it takes precedence over icon_name."},
			&apiField{name: "disabled", kind: fieldBool, doc: "Shows the button, but it cannot be clicked."},
			&apiField{name: "requires_confirmation", kind: fieldBool, doc: "Requires a second click to confirm."},
			&apiField{name: "show_inputs_as_modal", kind: fieldBool, doc: "Shows the inputs in a dialog instead of a menu."},
			&apiField{name: "inputs", kind: fieldMany, of: "ui_input_spec", doc: "The inputs of the button."},
		)},
	}
}
