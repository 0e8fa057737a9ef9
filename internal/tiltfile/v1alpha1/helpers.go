package v1alpha1

// apiHelperTypes are the types that are only parts of objects.
func apiHelperTypes() []*apiType {
	port := func() *apiField {
		return &apiField{name: "port", kind: fieldInt, required: true, check: checkPort, doc: "The port, 1 to 65535."}
	}
	host := func() *apiField {
		return &apiField{name: "host", kind: fieldText, check: checkHostText, doc: "The host; localhost where it is left out."}
	}
	count := func(name, doc string) *apiField {
		return &apiField{name: name, kind: fieldInt, check: notNegative, doc: doc}
	}
	selectors := &apiField{name: "extra_selectors", kind: fieldMany, of: "label_selector", doc: "Labels of pods that no owner leads to."}
	buttons := &apiField{name: "ui_buttons", kind: fieldTexts, doc: "The names of buttons; a click does it."}
	return []*apiType{
		{name: "config_map_disable_source", doc: "A key of a config_map that switches something off when it is 'true'.", fields: []*apiField{
			{name: "name", kind: fieldText, required: true, doc: "The name of the config_map."},
			{name: "key", kind: fieldText, required: true, doc: "The key, usually 'isDisabled'."},
		}},
		{name: "disable_source", doc: "What switches something off.", check: checkDisable, fields: []*apiField{
			{name: "config_map", kind: fieldOne, of: "config_map_disable_source", doc: "The key that does it."},
			{name: "every_config_map", kind: fieldMany, of: "config_map_disable_source", doc: "Keys that do it together: all of them must be 'true'."},
		}},
		{name: "exec_action", doc: "Succeeds when a command does.", fields: []*apiField{
			{name: "command", kind: fieldTexts, required: true, check: checkArgv, doc: "The program and its arguments."},
		}},
		{name: "forward", doc: "A local port that leads to a pod.", fields: []*apiField{
			{name: "local_port", kind: fieldInt, check: checkPortOrAny, doc: "The port on this machine; 0 picks a free one."},
			{name: "container_port", kind: fieldInt, required: true, check: checkPort, doc: "The port of the pod."},
			{name: "host", kind: fieldText, check: checkHostText, doc: "The local address to listen on."},
		}},
		{name: "handler", doc: "What a probe does; exactly one of them.", check: exactlyOne("exec", "http_get", "tcp_socket"), fields: []*apiField{
			{name: "exec", kind: fieldOne, of: "exec_action", doc: "Runs a command."},
			{name: "http_get", kind: fieldOne, of: "http_get_action", doc: "Asks an HTTP server."},
			{name: "tcp_socket", kind: fieldOne, of: "tcp_socket_action", doc: "Opens a connection."},
		}},
		{name: "http_get_action", doc: "Succeeds on a status from 200 to 399.", fields: []*apiField{
			{name: "path", kind: fieldText, doc: "The path of the URL; / where it is left out."},
			port(), host(),
			{name: "scheme", kind: fieldText, check: oneOf("http", "https", "HTTP", "HTTPS"), doc: "http or https; http where it is left out."},
			{name: "http_headers", kind: fieldMany, of: "http_header", doc: "Headers of the request."},
		}},
		{name: "http_header", doc: "A header of a request.", fields: []*apiField{
			{name: "name", kind: fieldText, required: true, check: checkHeader, doc: "The header's name."},
			{name: "value", kind: fieldText, check: checkOneLine, doc: "The header's value."},
		}},
		{name: "ignore_def", doc: "Files to leave out.", fields: []*apiField{
			{name: "base_path", kind: fieldPath, required: true, doc: "The folder that the patterns count from."},
			{name: "patterns", kind: fieldTexts, doc: "Patterns as in .dockerignore; everything below base_path where there are none."},
		}},
		{name: "kubernetes_apply_cmd", doc: "A command that applies objects and prints them as YAML.", fields: []*apiField{
			{name: "args", kind: fieldTexts, required: true, check: checkArgv, doc: "The program and its arguments."},
			{name: "dir", kind: fieldPath, doc: "The working folder; the calling file's where it is left out."},
			{name: "env", kind: fieldTexts, check: checkEnv, doc: "Further environment variables, as 'NAME=value'."},
		}},
		{name: "kubernetes_discovery_template_spec", doc: "How to find pods.", fields: []*apiField{selectors}},
		{name: "kubernetes_image_locator", doc: "Where objects name an image.", fields: []*apiField{
			{name: "object_selector", kind: fieldOne, of: "object_selector", required: true, doc: "The objects to look into."},
			{name: "path", kind: fieldText, required: true, doc: "The JSONPath of the image."},
			{name: "object", kind: fieldOne, of: "kubernetes_image_object_descriptor", doc: "The fields of the image, where it is no string."},
		}},
		{name: "kubernetes_image_object_descriptor", doc: "The fields of an image that is written in two halves.", fields: []*apiField{
			{name: "repo_field", kind: fieldText, required: true, doc: "The field with the repository."},
			{name: "tag_field", kind: fieldText, required: true, doc: "The field with the tag."},
		}},
		{name: "kubernetes_watch_ref", doc: "An object whose pods to find.", fields: []*apiField{
			{name: "uid", kind: fieldText, doc: "The UID of the object, or of one that owns it."},
			{name: "namespace", kind: fieldText, required: true, doc: "The namespace to look into."},
			{name: "name", kind: fieldText, doc: "The object's name, for people."},
		}},
		{name: "label_selector", doc: "Labels; all conditions must hold.", fields: []*apiField{
			{name: "match_labels", kind: fieldTextMap, doc: "Labels with their values."},
			{name: "match_expressions", kind: fieldMany, of: "label_selector_requirement", doc: "Further conditions."},
		}},
		{name: "label_selector_requirement", doc: "A condition on one label.", check: checkRequirement, fields: []*apiField{
			{name: "key", kind: fieldText, required: true, doc: "The label."},
			{name: "operator", kind: fieldText, required: true, check: oneOf("In", "NotIn", "Exists", "DoesNotExist"), doc: "In, NotIn, Exists or DoesNotExist."},
			{name: "values", kind: fieldTexts, doc: "The values, for In and NotIn."},
		}},
		{name: "object_selector", doc: "Objects, by regular expressions; all that are given must match.", fields: []*apiField{
			{name: "api_version_regexp", kind: fieldText, check: checkRegexp, doc: "For the apiVersion."},
			{name: "kind_regexp", kind: fieldText, check: checkRegexp, doc: "For the kind."},
			{name: "name_regexp", kind: fieldText, check: checkRegexp, doc: "For the name."},
			{name: "namespace_regexp", kind: fieldText, check: checkRegexp, doc: "For the namespace."},
		}},
		{name: "pod_log_stream_template_spec", doc: "Which containers' logs to show.", fields: []*apiField{
			{name: "only_containers", kind: fieldTexts, doc: "Only these containers."},
			{name: "ignore_containers", kind: fieldTexts, doc: "All but these containers."},
		}},
		{name: "port_forward_template_spec", doc: "The port forwards to open.", fields: []*apiField{
			{name: "forwards", kind: fieldMany, of: "forward", required: true, doc: "One or more forwards."},
		}},
		{name: "probe", doc: "Asks regularly whether a command is ready.", fields: []*apiField{
			{name: "handler", kind: fieldOne, of: "handler", required: true, doc: "What the probe does."},
			count("initial_delay_seconds", "Seconds before the first probe."),
			count("timeout_seconds", "Seconds that an answer may take; 0 means 1."),
			count("period_seconds", "Seconds from probe to probe; 0 means 10."),
			count("success_threshold", "Successes in a row that make it ready; 0 means 1."),
			count("failure_threshold", "Failures in a row that make it not ready; 0 means 3."),
		}},
		{name: "restart_on_spec", doc: "What makes something run again.", fields: []*apiField{
			{name: "file_watches", kind: fieldTexts, doc: "The names of file watches; a change of their files does it."}, buttons,
		}},
		{name: "start_on_spec", doc: "What makes something run.", fields: []*apiField{
			buttons,
			{name: "start_after", kind: fieldText, check: checkTime, doc: "Events up to this time (2026-01-31T12:00:00Z) do not count."},
		}},
		{name: "tcp_socket_action", doc: "Succeeds when a connection can be opened.", fields: []*apiField{port(), host()}},
		{name: "ui_bool_input_spec", doc: "A box to tick.", fields: []*apiField{
			{name: "default_value", kind: fieldBool, doc: "Whether it is ticked at first."},
			{name: "true_string", kind: fieldText, nullable: true, doc: "The value when it is ticked; 'true' where this is left out."},
			{name: "false_string", kind: fieldText, nullable: true, doc: "The value when it is not; 'false' where this is left out."},
		}},
		{name: "ui_choice_input_spec", doc: "One of several texts; the first at first.", fields: []*apiField{
			{name: "choices", kind: fieldTexts, required: true, doc: "The texts to choose from."},
		}},
		{name: "ui_component_location", doc: "What a button stands beside.", fields: []*apiField{
			{name: "component_id", kind: fieldText, api: "componentID", required: true, doc: "The resource's name, or 'nav' for the bar that belongs to all."},
			{name: "component_type", kind: fieldText, required: true, check: checkComponent, doc: "'resource' or 'global'."},
		}},
		{name: "ui_hidden_input_spec", doc: "A value that the user does not see.", fields: []*apiField{
			{name: "value", kind: fieldText, doc: "The value."},
		}},
		{name: "ui_input_spec", doc: "What a click brings along, as an environment variable; exactly one kind.",
			check: exactlyOne("text", "bool", "hidden", "choice"), fields: []*apiField{
				{name: "name", kind: fieldText, required: true, check: checkVariable, doc: "The name of the variable, unique in its button."},
				{name: "label", kind: fieldText, doc: "What the input says."},
				{name: "text", kind: fieldOne, of: "ui_text_input_spec", doc: "Takes a text."},
				{name: "bool", kind: fieldOne, of: "ui_bool_input_spec", doc: "Takes yes or no."},
				{name: "hidden", kind: fieldOne, of: "ui_hidden_input_spec", doc: "Has one value and is not shown."},
				{name: "choice", kind: fieldOne, of: "ui_choice_input_spec", doc: "Takes one of several texts."},
			}},
		{name: "ui_text_input_spec", doc: "A text to type.", fields: []*apiField{
			{name: "default_value", kind: fieldText, doc: "The text at first."},
			{name: "placeholder", kind: fieldText, doc: "A hint while there is no text."},
		}},
	}
}
