package tiltfile

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noneIsNothing are the required arguments for which None means an empty list.
var noneIsNothing = map[string]bool{
	"allow_k8s_contexts.contexts": true, "config.set_enabled_resources.resources": true, "custom_build.deps": true,
	"encode_json.obj": true, "encode_yaml.obj": true, "fall_back_on.paths": true, "filter_yaml.yaml": true, "k8s_custom_deploy.deps": true, "watch_settings.ignore": true,
}

// noneIsValue are optional arguments for which None is not the same as leaving them out.
var noneIsValue = map[string]bool{
	"read_json.default": true, "read_yaml.default": true, "read_yaml_stream.default": true, "os.getenv.default": true,
}

// TestNone calls every builtin with None for each of its arguments: many programs pass on arguments that they were not
// given. For an optional argument, None is the same as leaving it out; the table lists the required arguments that
// accept None.
func TestNone(t *testing.T) {
	dir := sampleFolder(t)
	for _, name := range slices.Sorted(maps.Keys(sampleArgs)) {
		params, _ := parametersOf(name)
		plain, err := runSample(t, dir, sampleProgram(name))
		if err != nil {
			t.Errorf("%s(%s): %v", name, sampleArgs[name], err)
			continue
		}
		for _, p := range params {
			arg := name + "." + p.name
			with, err := runSample(t, dir, sampleProgram(name, p.name+"=None"))
			given := regexp.MustCompile(`\b` + p.name + `=`).MatchString(sampleArgs[name])
			switch {
			case given && !p.optional && (err == nil) != noneIsNothing[arg]:
				t.Errorf("%s(%s=None): got %v, want it to be accepted: %v", name, p.name, err, noneIsNothing[arg])
				continue
			case given:
				continue
			}
			if diff := cmp.Diff(plain, with); err != nil || diff != "" && !noneIsValue[arg] {
				t.Errorf("%s(%s=None): %v; it is not the same as no argument (-without +with):\n%s", name, p.name, err, diff)
			}
		}
	}
}
