package v1alpha1

// apiHelperTypes are the types that are only parts of objects.
func apiHelperTypes() []*apiType {
	port := func() *apiField {
		return &apiField{name: "port", kind: fieldInt, required: true, check: checkPort, doc: "The port, 1 to 65535."}
	}
	host := func() *apiField {
		return &apiField{name: "host", kind: fieldText, check: checkHostText, doc: "The host; localhost by default."}
	}
	count := func(name, doc string) *apiField {
		return &apiField{name: name, kind: fieldInt, check: notNegative, doc: doc}
	}
	selectors := &apiField{name: "extra_selectors", kind: fieldMany, of: "label_selector", doc: "Labels of additional pods."}
	buttons := &apiField{name: "ui_buttons", kind: fieldTexts, doc: "Names of buttons."}
	return []*apiType{
		{name: "config_map_disable_source", doc: "A key of a config_map that disables an object when its value is 'true'.", fields: []*apiField{
			{name: "name", kind: fieldText, required: true, doc: "The name of the config_map."},
			{name: "key", kind: fieldText, required: true, doc: "The key, usually 'isDisabled'."},
		}},
		{name: "disable_source", doc: "What disables an object.", check: checkDisable, fields: []*apiField{
			{name: "config_map", kind: fieldOne, of: "config_map_disable_source", doc: "The key."},
			{name: "every_config_map", kind: fieldMany, of: "config_map_disable_source", doc: "Keys that disable the object together: all of them must be 'true'."},
		}},
		{name: "exec_action", doc: "Succeeds when a command succeeds.", fields: []*apiField{
			{name: "command", kind: fieldTexts, required: true, check: checkArgv, doc: "The program and its arguments."},
		}},
		{name: "forward", doc: "A port forward to a pod.", fields: []*apiField{
			{name: "local_port", kind: fieldInt, check: checkPortOrAny, doc: "The port on this machine; 0 for any free port."},
			{name: "container_port", kind: fieldInt, required: true, check: checkPort, doc: "The port of the pod."},
			{name: "host", kind: fieldText, check: checkHostText, doc: "The local address to listen on."},
		}},
		{name: "handler", doc: "What a probe does: exactly one of the three fields.", check: exactlyOne("exec", "http_get", "tcp_socket"), fields: []*apiField{
			{name: "exec", kind: fieldOne, of: "exec_action", doc: "Runs a command."},
			{name: "http_get", kind: fieldOne, of: "http_get_action", doc: "Sends an HTTP request."},
			{name: "tcp_socket", kind: fieldOne, of: "tcp_socket_action", doc: "Opens a connection."},
		}},
		{name: "http_get_action", doc: "Succeeds on a status from 200 to 399.", fields: []*apiField{
			{name: "path", kind: fieldText, doc: "The path of the URL; / by default."},
			port(), host(),
			{name: "scheme", kind: fieldText, check: oneOf("http", "https", "HTTP", "HTTPS"), doc: "http or https; http by default."},
			{name: "http_headers", kind: fieldMany, of: "http_header", doc: "Headers of the request."},
		}},
		{name: "http_header", doc: "A header of a request.", fields: []*apiField{
			{name: "name", kind: fieldText, required: true, check: checkHeader, doc: "The header's name."},
			{name: "value", kind: fieldText, check: checkOneLine, doc: "The header's value."},
		}},
		{name: "ignore_def", doc: "Files to exclude.", fields: []*apiField{
			{name: "base_path", kind: fieldPath, required: true, doc: "The folder that the patterns are relative to."},
			{name: "patterns", kind: fieldTexts, doc: "Patterns in the syntax of .dockerignore. Without patterns, the whole folder is excluded."},
		}},
		{name: "kubernetes_apply_cmd", doc: "A command that applies objects and prints them as YAML.", fields: []*apiField{
			{name: "args", kind: fieldTexts, required: true, check: checkArgv, doc: "The program and its arguments."},
			{name: "dir", kind: fieldPath, doc: "The working folder; by default the folder of the calling file."},
			{name: "env", kind: fieldTexts, check: checkEnv, doc: "Additional environment variables, as 'NAME=value'."},
		}},
		{name: "kubernetes_discovery_template_spec", doc: "How to find pods.", fields: []*apiField{selectors}},
		{name: "kubernetes_image_locator", doc: "Where objects refer to an image.", fields: []*apiField{
			{name: "object_selector", kind: fieldOne, of: "object_selector", required: true, doc: "The objects to match."},
			{name: "path", kind: fieldText, required: true, doc: "The JSONPath of the image."},
			{name: "object", kind: fieldOne, of: "kubernetes_image_object_descriptor", doc: "The fields of the image, if it is not a string."},
		}},
		{name: "kubernetes_image_object_descriptor", doc: "The fields of an image that is written in two parts.", fields: []*apiField{
			{name: "repo_field", kind: fieldText, required: true, doc: "The field with the repository."},
			{name: "tag_field", kind: fieldText, required: true, doc: "The field with the tag."},
		}},
		{name: "kubernetes_watch_ref", doc: "An object whose pods to find.", fields: []*apiField{
			{name: "uid", kind: fieldText, doc: "The UID of the object, or of one that owns it."},
			{name: "namespace", kind: fieldText, required: true, doc: "The namespace."},
			{name: "name", kind: fieldText, doc: "The object's name, for messages."},
		}},
		{name: "label_selector", doc: "A label selector; all conditions must match.", fields: []*apiField{
			{name: "match_labels", kind: fieldTextMap, doc: "Labels with their values."},
			{name: "match_expressions", kind: fieldMany, of: "label_selector_requirement", doc: "Further conditions."},
		}},
		{name: "label_selector_requirement", doc: "A condition on one label.", check: checkRequirement, fields: []*apiField{
			{name: "key", kind: fieldText, required: true, doc: "The label."},
			{name: "operator", kind: fieldText, required: true, check: oneOf("In", "NotIn", "Exists", "DoesNotExist"), doc: "In, NotIn, Exists or DoesNotExist."},
			{name: "values", kind: fieldTexts, doc: "The values, for In and NotIn."},
		}},
		{name: "object_selector", doc: "Objects that match regular expressions; all given expressions must match.", fields: []*apiField{
			{name: "api_version_regexp", kind: fieldText, check: checkRegexp, doc: "For the apiVersion."},
			{name: "kind_regexp", kind: fieldText, check: checkRegexp, doc: "For the kind."},
			{name: "name_regexp", kind: fieldText, check: checkRegexp, doc: "For the name."},
			{name: "namespace_regexp", kind: fieldText, check: checkRegexp, doc: "For the namespace."},
		}},
		{name: "pod_log_stream_template_spec", doc: "The containers whose logs are shown.", fields: []*apiField{
			{name: "only_containers", kind: fieldTexts, doc: "Only these containers."},
			{name: "ignore_containers", kind: fieldTexts, doc: "All except these containers."},
		}},
		{name: "port_forward_template_spec", doc: "The port forwards to open.", fields: []*apiField{
			{name: "forwards", kind: fieldMany, of: "forward", required: true, doc: "One or more forwards."},
		}},
		{name: "probe", doc: "Checks periodically whether a command is ready.", fields: []*apiField{
			{name: "handler", kind: fieldOne, of: "handler", required: true, doc: "What the probe does."},
			count("initial_delay_seconds", "Seconds before the first check."),
			count("timeout_seconds", "Seconds after which a check fails; 0 means 1."),
			count("period_seconds", "Seconds between checks; 0 means 10."),
			count("success_threshold", "Consecutive successes required; 0 means 1."),
			count("failure_threshold", "Consecutive failures required; 0 means 3."),
		}},
		{name: "restart_on_spec", doc: "What restarts something.", fields: []*apiField{
			{name: "file_watches", kind: fieldTexts, doc: "Names of file watches."}, buttons,
		}},
		{name: "start_on_spec", doc: "What starts something.", fields: []*apiField{
			buttons,
			{name: "start_after", kind: fieldText, check: checkTime, doc: "Events up to this time (2026-01-31T12:00:00Z) are ignored."},
		}},
		{name: "tcp_socket_action", doc: "Succeeds when a connection can be opened.", fields: []*apiField{port(), host()}},
		{name: "ui_bool_input_spec", doc: "A checkbox.", fields: []*apiField{
			{name: "default_value", kind: fieldBool, doc: "Whether the box is checked initially."},
			{name: "true_string", kind: fieldText, nullable: true, doc: "The value of a checked box; 'true' by default."},
			{name: "false_string", kind: fieldText, nullable: true, doc: "The value of an unchecked box; 'false' by default."},
		}},
		{name: "ui_choice_input_spec", doc: "One of several texts; the first is the default.", fields: []*apiField{
			{name: "choices", kind: fieldTexts, required: true, doc: "The texts to choose from."},
		}},
		{name: "ui_component_location", doc: "Where a button is shown.", fields: []*apiField{
			{name: "component_id", kind: fieldText, api: "componentID", required: true, doc: "The resource's name, or 'nav' for the global bar."},
			{name: "component_type", kind: fieldText, required: true, check: checkComponent, doc: "'resource' or 'global'."},
		}},
		{name: "ui_hidden_input_spec", doc: "A value that the user does not see.", fields: []*apiField{
			{name: "value", kind: fieldText, doc: "The value."},
		}},
		{name: "ui_input_spec", doc: "An input of a button, which becomes an environment variable; exactly one kind.",
			check: exactlyOne("text", "bool", "hidden", "choice"), fields: []*apiField{
				{name: "name", kind: fieldText, required: true, check: checkVariable, doc: "The name of the variable, unique in its button."},
				{name: "label", kind: fieldText, doc: "The label of the input."},
				{name: "text", kind: fieldOne, of: "ui_text_input_spec", doc: "Takes a text."},
				{name: "bool", kind: fieldOne, of: "ui_bool_input_spec", doc: "Takes true or false."},
				{name: "hidden", kind: fieldOne, of: "ui_hidden_input_spec", doc: "Has a fixed value and is not shown."},
				{name: "choice", kind: fieldOne, of: "ui_choice_input_spec", doc: "Takes one of several texts."},
			}},
		{name: "ui_text_input_spec", doc: "A line of text.", fields: []*apiField{
			{name: "default_value", kind: fieldText, doc: "The initial text."},
			{name: "placeholder", kind: fieldText, doc: "A hint that is shown while the text is empty."},
		}},
	}
}
