package k8s

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// jobHealth judges a Job by its conditions: kstatus calls a Job current as soon as it has started. A Job is in
// progress, however its containers and pods end, until Kubernetes reports it complete or failed.
func jobHealth(u *unstructured.Unstructured) (word, message string) {
	for _, end := range []struct{ condition, word string }{{"Complete", model.HealthCurrent}, {"Failed", model.HealthFailed}} {
		if c := conditionOf(u, end.condition); c != nil {
			return end.word, sentence(c)
		}
	}
	if u.GetDeletionTimestamp() != nil {
		return model.HealthTerminating, "is being deleted"
	}
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		return model.HealthInProgress, "is suspended"
	}
	count := func(fields ...string) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, fields...)
		return n
	}
	succeeded := fmt.Sprint(count("status", "succeeded"))
	if n := count("spec", "completions"); n > 1 {
		succeeded += fmt.Sprintf(" of %d", n)
	}
	return model.HealthInProgress, fmt.Sprintf("active %d, succeeded %s, failed %d", count("status", "active"), succeeded, count("status", "failed"))
}

// conditionOf returns the condition of the given type if it is true, else nil.
func conditionOf(u *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == kind && m["status"] == "True" {
			return m
		}
	}
	return nil
}

// sentence returns the reason and message of a condition.
func sentence(condition map[string]any) string {
	reason, _ := condition["reason"].(string)
	message, _ := condition["message"].(string)
	return strings.Trim(reason+": "+message, ": ")
}
