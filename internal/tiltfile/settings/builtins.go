package settings

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/internal/tiltfile/version"
	"github.com/hone-dev/hone/pkg/model"
)

func (s *Settings) updateSettings(c *eval.Call) (starlark.Value, error) {
	var parallel, timeout value.Int
	ahead := !s.Update.NoBuildAhead
	var suppress value.Texts
	var serverSide, adopt string
	if err := c.Unpack("max_parallel_updates??", &parallel, "k8s_upsert_timeout_secs??", &timeout,
		"suppress_unused_image_warnings??", &suppress, "k8s_server_side_apply??", &serverSide, "adopt??", &adopt, "build_ahead??", &ahead); err != nil {
		return nil, err
	}
	switch {
	case parallel.IsSet && parallel.Value < 1:
		return nil, errors.New("max_parallel_updates must be at least 1")
	case timeout.IsSet && timeout.Value < 1:
		return nil, errors.New("k8s_upsert_timeout_secs must be at least 1")
	}
	switch serverSide {
	case "", "true", "false", "auto":
	default:
		return nil, fmt.Errorf("k8s_server_side_apply: %q is none of \"true\", \"false\" and \"auto\"", serverSide)
	}
	if adopt != "" {
		if err := model.CheckPolicy(model.AnnotationAdopt, adopt); err != nil {
			return nil, fmt.Errorf("adopt: %s", strings.TrimPrefix(err.Error(), model.AnnotationAdopt+": "))
		}
		s.Adopt = adopt
	}
	s.Update.NoBuildAhead = !ahead
	if parallel.IsSet {
		s.Update.MaxParallel = parallel.Value
	}
	if timeout.IsSet {
		s.Update.UpsertTimeout = time.Duration(timeout.Value) * time.Second
	}
	s.Update.SuppressUnusedImageWarnings = value.AppendNew(s.Update.SuppressUnusedImageWarnings, suppress.Values)
	return nil, nil
}

// duration takes text such as "10m"; "0" is a duration of zero.
type duration struct {
	value time.Duration
	isSet bool
}

// Unpack implements starlark.Unpacker.
func (d *duration) Unpack(v starlark.Value) error {
	t, ok := starlark.AsString(v)
	if !ok {
		return fmt.Errorf("got %s, want a duration such as \"10m\"", v.Type())
	}
	parsed, err := time.ParseDuration(t)
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a duration such as \"90s\", \"10m\" or \"1h30m\"", t)
	}
	*d = duration{parsed, true}
	return nil
}

func (s *Settings) ciSettings(c *eval.Call) (starlark.Value, error) {
	var grace, timeout, ready duration
	var failFast value.Bool
	if err := c.Unpack("k8s_grace_period??", &grace, "timeout??", &timeout, "readiness_timeout??", &ready, "fail_fast??", &failFast); err != nil {
		return nil, err
	}
	if grace.isSet {
		s.CI.GracePeriod = grace.value
	}
	if timeout.isSet {
		s.CI.Timeout = timeout.value
	}
	if ready.isSet {
		s.CI.ReadinessTimeout = ready.value
	}
	if failFast.IsSet {
		s.CI.FailFast = failFast.Value
	}
	return nil, nil
}

func (s *Settings) pruneSettings(c *eval.Call) (starlark.Value, error) {
	var disable value.Bool
	var age, builds, interval, keep value.Int
	if err := c.Unpack("disable??", &disable, "max_age_mins??", &age, "num_builds??", &builds, "interval_hrs??", &interval,
		"keep_recent??", &keep); err != nil {
		return nil, err
	}
	if builds.Value != 0 && interval.Value != 0 {
		return nil, errors.New("give either num_builds= or interval_hrs=, not both")
	}
	if min(builds.Value, interval.Value, keep.Value) < 0 {
		return nil, errors.New("numbers must not be negative, except max_age_mins")
	}
	if disable.IsSet {
		s.Prune.Disable = disable.Value
	}
	if age.Value != 0 {
		s.Prune.MaxAge = max(0, time.Duration(age.Value)*time.Minute) // less than 0 means any age: 0 stands for the default
	}
	if builds.Value != 0 {
		s.Prune.NumBuilds, s.Prune.Interval = builds.Value, 0
	}
	if interval.Value != 0 {
		s.Prune.NumBuilds, s.Prune.Interval = 0, time.Duration(interval.Value)*time.Hour
	}
	if keep.IsSet {
		s.Prune.KeepRecent = keep.Value
	}
	return nil, nil
}

// tiltVersion is the version of Tilt whose language this package implements.
const tiltVersion = "0.37.0"

func versionSettings(c *eval.Call) (starlark.Value, error) {
	var check bool
	var constraint string
	if err := c.Unpack("check_updates??", &check, "constraint??", &constraint); err != nil {
		return nil, err
	}
	if constraint == "" {
		return nil, nil
	}
	ok, err := version.Satisfies(tiltVersion, constraint)
	if err == nil && !ok {
		err = problem.New(
			fmt.Sprintf("this Tiltfile requires Tilt %s, but this hone implements the language of Tilt %s", constraint, tiltVersion),
			"update hone, or relax the constraint in version_settings()")
	}
	return nil, err
}
