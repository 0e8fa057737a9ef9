package v1alpha1

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// Checks of single fields. They receive a value of the field's kind.

// checkAPIName requires a name that can be one segment of a path, since the API addresses objects by path. Existing
// Tiltfiles have names with blanks and colons, so these are allowed.
func checkAPIName(x any) error {
	const longest = 253
	name := x.(string)
	switch {
	case name == "." || name == "..":
		return fmt.Errorf("%q cannot be a name", name)
	case strings.ContainsAny(name, "/%"):
		return fmt.Errorf("%q: a name must not contain / or %%", name)
	case value.HasControls(name):
		return fmt.Errorf("%q: a name must not contain line breaks or other control characters", name)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%q: a name must not begin or end with a blank", name)
	case len(name) > longest:
		return fmt.Errorf("a name must not be longer than %d bytes; this one has %d", longest, len(name))
	}
	return nil
}

func checkArgv(x any) error {
	argv := x.([]string)
	if len(argv) > 0 && argv[0] == "" {
		return errors.New("the first word, the program, is empty")
	}
	return nil
}

func checkEnv(x any) error {
	for _, kv := range x.([]string) {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return fmt.Errorf("%q does not have the form NAME=value", kv)
		}
	}
	return nil
}

// checkVariable requires a possible name of an environment variable.
func checkVariable(x any) error {
	if name := x.(string); strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf("%q cannot be the name of an environment variable", name)
	}
	return nil
}

var configKey = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

func checkConfigKeys(x any) error {
	for _, key := range slices.Sorted(maps.Keys(x.(map[string]string))) {
		if !configKey.MatchString(key) {
			return fmt.Errorf("key %q: keys consist of letters, digits, dots, dashes and underscores", key)
		}
	}
	return nil
}

// checkInside requires a relative path that does not leave its folder.
func checkInside(x any) error {
	p := x.(string)
	if clean := path.Clean(p); path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") {
		return fmt.Errorf("%q leads out of the repo", p)
	}
	return nil
}

func checkLoadHost(x any) error {
	if strings.ContainsAny(x.(string), "/:") {
		return fmt.Errorf("%q is more than the first part of an ext:// path", x)
	}
	return nil
}

func checkDuration(x any) error {
	if d, err := time.ParseDuration(x.(string)); err != nil || d <= 0 {
		return fmt.Errorf("%q is not a duration such as 30s", x)
	}
	return nil
}

func checkTime(x any) error {
	if _, err := time.Parse(time.RFC3339, x.(string)); err != nil {
		return fmt.Errorf("%q is not a time such as 2026-01-31T12:00:00Z", x)
	}
	return nil
}

func checkRegexp(x any) error {
	if _, err := regexp.Compile(x.(string)); err != nil {
		return fmt.Errorf("%q is not a regular expression: %w", x, err)
	}
	return nil
}

func checkPort(x any) error {
	_, err := model.ParsePort(fmt.Sprint(x))
	return err
}

func checkPortOrAny(x any) error {
	if x == 0 {
		return nil
	}
	return checkPort(x)
}

func checkHostText(x any) error { return model.CheckHost(x.(string)) }

var headerName = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")

func checkHeader(x any) error {
	if !headerName.MatchString(x.(string)) {
		return fmt.Errorf("%q cannot be the name of a header", x)
	}
	return nil
}

func checkOneLine(x any) error {
	if strings.ContainsAny(x.(string), "\r\n\x00") {
		return fmt.Errorf("%q has more than one line", x)
	}
	return nil
}

func notNegative(x any) error {
	if x.(int) < 0 {
		return fmt.Errorf("%d is negative", x)
	}
	return nil
}

// oneOf requires one of the words; an empty text means the default.
func oneOf(words ...string) func(any) error {
	return func(x any) error {
		word := x.(string)
		if word == "" || slices.Contains(words, word) {
			return nil
		}
		return fmt.Errorf("got %q%s, want one of %s", word, hint.DidYouMean(word, words), strings.Join(words, ", "))
	}
}

// componentTypes are the types of components by their names in lower case.
var componentTypes = map[string]model.ComponentType{"resource": model.ComponentResource, "global": model.ComponentGlobal}

func checkComponent(x any) error {
	return oneOf(slices.Sorted(maps.Keys(componentTypes))...)(strings.ToLower(x.(string)))
}

// Checks of values as a whole.

// exactlyOne requires exactly one of the fields.
func exactlyOne(names ...string) func(*apiValue) error {
	return func(v *apiValue) error {
		if n := v.given(names...); n != 1 {
			return fmt.Errorf("give exactly one of %s, not %d", strings.Join(names, ", "), n)
		}
		return nil
	}
}

func checkDisable(v *apiValue) error { return exactlyOne("config_map", "every_config_map")(v) }

func checkApply(v *apiValue) error { return exactlyOne("yaml", "cmd")(v) }

func checkRequirement(v *apiValue) error {
	op, n := v.text("operator"), len(v.texts("values"))
	takesValues := op == "In" || op == "NotIn"
	switch {
	case takesValues && n == 0:
		return fmt.Errorf("operator %s needs values", op)
	case !takesValues && n > 0:
		return fmt.Errorf("operator %s takes no values", op)
	}
	return nil
}

func checkRepo(v *apiValue) error {
	url := v.text("url")
	scheme, rest, ok := strings.Cut(url, "://")
	switch {
	case !ok || !slices.Contains([]string{"https", "http", "file"}, scheme):
		return fmt.Errorf("url: %q starts with neither https:// nor file://", url)
	case rest == "":
		return fmt.Errorf("url: %q has no host or path", url)
	case scheme == "file" && v.text("ref") != "":
		return errors.New("ref: a file:// URL is used as it is, without a ref")
	case scheme == "file" && v.text("git_subpath") != "":
		return errors.New("git_subpath: put the folder into the file:// URL")
	}
	return nil
}

func checkButton(v *apiValue) error {
	seen := map[string]bool{}
	for _, in := range v.many("inputs") {
		name := in.text("name")
		if seen[name] {
			return fmt.Errorf("inputs: two inputs have the name %q", name)
		}
		seen[name] = true
	}
	return nil
}
