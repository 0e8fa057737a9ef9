package deploy

import (
	"strings"
	"testing"
)

// Objects that carry a former ID belong to the project: they are deleted, and applying them is no takeover.
func TestFormerProjectsAreOurs(t *testing.T) {
	c := fakeCluster(t)
	objects := c.injectAs(t, "web", "former", configYAML)
	c.mustApply(t, objects)
	_, log, err := c.apply(t, c.inject(t, configYAML), WithFormerProjects([]string{"former"}))
	if err != nil || strings.Contains(log, "another project") {
		t.Errorf("%v\n%s", err, log)
	}
	for _, tc := range []struct {
		opts []Option
		want DeleteOutcome
	}{{nil, OutcomeForeign}, {[]Option{WithFormerProjects([]string{"x", "former"})}, OutcomeDeleted}} {
		c := fakeCluster(t)
		objects := c.injectAs(t, "web", "former", configYAML)
		c.mustApply(t, objects)
		var got DeleteOutcome
		if err := NewApplier(c.dyn, c.mapper, tc.opts...).Delete(t.Context(), DeleteRequest{Objects: refsOf(objects), Project: "project1",
			Done: func(_ ObjectRef, o DeleteOutcome) { got = o }}); err != nil || got != tc.want {
			t.Errorf("%d former IDs: %s, %v; want %s", len(tc.opts), got, err, tc.want)
		}
	}
}
