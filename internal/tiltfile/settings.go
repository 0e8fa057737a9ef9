package tiltfile

import (
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
)

func (s *sessionSettings) updateSettings(c *call) (starlark.Value, error) {
	var parallel, timeout optInt
	var suppress textList
	var serverSide string
	if err := c.unpack("max_parallel_updates??", &parallel, "k8s_upsert_timeout_secs??", &timeout,
		"suppress_unused_image_warnings??", &suppress, "k8s_server_side_apply??", &serverSide); err != nil {
		return nil, err
	}
	switch {
	case parallel.isSet && parallel.value < 1:
		return nil, errors.New("max_parallel_updates must be at least 1")
	case timeout.isSet && timeout.value < 1:
		return nil, errors.New("k8s_upsert_timeout_secs must be at least 1")
	}
	switch serverSide {
	case "", "true", "false", "auto":
	default:
		return nil, fmt.Errorf("k8s_server_side_apply: %q is none of \"true\", \"false\" and \"auto\"", serverSide)
	}
	if parallel.isSet {
		s.update.MaxParallel = parallel.value
	}
	if timeout.isSet {
		s.update.UpsertTimeout = time.Duration(timeout.value) * time.Second
	}
	s.update.SuppressUnusedImageWarnings = appendNew(s.update.SuppressUnusedImageWarnings, suppress.values)
	return nil, nil
}

// duration takes text such as "10m"; "0" is no time.
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

func (s *sessionSettings) ciSettings(c *call) (starlark.Value, error) {
	var grace, timeout, ready duration
	if err := c.unpack("k8s_grace_period??", &grace, "timeout??", &timeout, "readiness_timeout??", &ready); err != nil {
		return nil, err
	}
	if grace.isSet {
		s.ci.GracePeriod = grace.value
	}
	if timeout.isSet {
		s.ci.Timeout = timeout.value
	}
	if ready.isSet {
		s.ci.ReadinessTimeout = ready.value
	}
	return nil, nil
}

func (s *sessionSettings) pruneSettings(c *call) (starlark.Value, error) {
	var disable optBool
	var age, builds, interval, keep optInt
	if err := c.unpack("disable??", &disable, "max_age_mins??", &age, "num_builds??", &builds, "interval_hrs??", &interval,
		"keep_recent??", &keep); err != nil {
		return nil, err
	}
	if builds.value != 0 && interval.value != 0 {
		return nil, errors.New("give either num_builds= or interval_hrs=, not both")
	}
	if min(builds.value, interval.value, keep.value) < 0 {
		return nil, errors.New("numbers must not be negative, but for max_age_mins")
	}
	if disable.isSet {
		s.prune.Disable = disable.value
	}
	if age.value != 0 {
		s.prune.MaxAge = max(0, time.Duration(age.value)*time.Minute) // less than 0 is any age: 0 is the default's name
	}
	if builds.value != 0 {
		s.prune.NumBuilds, s.prune.Interval = builds.value, 0
	}
	if interval.value != 0 {
		s.prune.NumBuilds, s.prune.Interval = 0, time.Duration(interval.value)*time.Hour
	}
	if keep.isSet {
		s.prune.KeepRecent = keep.value
	}
	return nil, nil
}

// tiltVersion is the version of Tilt whose language this package speaks.
const tiltVersion = "0.37.0"

func versionSettings(c *call) (starlark.Value, error) {
	var check bool
	var constraint string
	if err := c.unpack("check_updates??", &check, "constraint??", &constraint); err != nil {
		return nil, err
	}
	if constraint == "" {
		return nil, nil
	}
	ok, err := satisfies(tiltVersion, constraint)
	if err == nil && !ok {
		err = problem.New(
			fmt.Sprintf("this Tiltfile wants Tilt %s, but the language here is that of Tilt %s", constraint, tiltVersion),
			"update hone, or relax the constraint in version_settings()")
	}
	return nil, err
}
