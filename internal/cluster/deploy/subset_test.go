package deploy

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestWithin(t *testing.T) {
	tests := []struct {
		name, want, live string
		ok               bool
	}{
		{"equal", "{a: 1, b: x}", "{a: 1, b: x}", true},
		{"live has more fields", "{a: {b: 1}}", "{a: {b: 1, c: 2}, d: 3}", true},
		{"another value", "{a: 1}", "{a: 2}", false},
		{"missing field", "{a: 1}", "{}", false},
		{"missing false", "{a: false}", "{}", false},
		{"null and missing are the same", "{a: null}", "{}", true},
		{"null and present are not", "{a: null}", "{a: 1}", false},
		{"empty list and missing are the same", "{a: []}", "{}", true},
		{"empty map and missing are not", "{a: {}}", "{}", false},
		{"map and scalar", "{a: {}}", "{a: 1}", false},
		{"integer and float", "{a: 1}", "{a: 1.0}", true},
		{"text and number", `{a: "1"}`, "{a: 1}", false},
		{"quantities", "{limits: {cpu: 1000m, memory: 0.5Gi, x: 2}}", `{limits: {cpu: "1", memory: 512Mi, x: "2"}}`, true},
		{"other quantities", "{limits: {cpu: 1000m}}", `{limits: {cpu: "2"}}`, false},
		{"quantity missing", "{limits: {cpu: 1000m}}", `{limits: {}}`, false},
		{"quantity-like text elsewhere", "{data: {cpu: 1000m}}", `{data: {cpu: "1"}}`, false},
		{"size limit", "{emptyDir: {sizeLimit: 1024Mi}}", "{emptyDir: {sizeLimit: 1Gi}}", true},
		{"sidecar", "{containers: [{name: a}]}", "{containers: [{name: x}, {name: a, image: y}]}", true},
		{"container gone", "{containers: [{name: a}]}", "{containers: [{name: x}]}", false},
		{"container changed", "{containers: [{name: a, image: 1}]}", "{containers: [{name: a, image: 2}]}", false},
		{"order changed", "{env: [{name: a}, {name: b}]}", "{env: [{name: b}, {name: a}]}", false},
		{"others in between", "{env: [{name: a}, {name: b}]}", "{env: [{name: a}, {name: x}, {name: b}]}", true},
		{"ports by number and protocol", "{ports: [{containerPort: 80}]}",
			"{ports: [{containerPort: 80, protocol: UDP}, {containerPort: 80, protocol: TCP}]}", true},
		{"port gone", "{ports: [{port: 80}]}", "{ports: [{port: 81, protocol: TCP}]}", false},
		{"repeated keys are compared by place", "{ports: [{containerPort: 80, name: a}, {containerPort: 80, name: b}]}",
			"{ports: [{containerPort: 80, name: a, protocol: TCP}, {containerPort: 80, name: b, protocol: TCP}]}", true},
		{"repeated keys, one more", "{ports: [{containerPort: 80, name: a}, {containerPort: 80, name: b}]}",
			"{ports: [{containerPort: 80, name: a}, {containerPort: 80, name: b}, {containerPort: 80, name: c}]}", false},
		{"lists without keys", "{rules: [{verbs: [get]}]}", "{rules: [{verbs: [get], x: 1}]}", true},
		{"lists without keys, one more", "{rules: [{verbs: [get]}]}", "{rules: [{verbs: [get]}, {verbs: [list]}]}", false},
		{"scalars in lists", "{args: [a, b]}", "{args: [a, c]}", false},
		{"tolerations are a set", "{tolerations: [{key: b}]}", "{tolerations: [{key: a}, {key: b, effect: x}]}", true},
		{"toleration gone", "{tolerations: [{key: b}]}", "{tolerations: [{key: a}]}", false},
		{"finalizers are a set", "{finalizers: [b]}", "{finalizers: [a, b]}", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := within(decode(t, tt.want), decode(t, tt.live), ""); got != tt.ok {
				t.Errorf("got %v", got)
			}
		})
	}
}

func decode(t testing.TB, text string) any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(`{apiVersion: v1, kind: X, content: ` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u.Object["content"]
}

func TestUnchangedNeedsTheHash(t *testing.T) {
	desired := cluster{namespace: "ns1"}.inject(t, configYAML)[0]
	live := desired.DeepCopy()
	live.SetResourceVersion("7")
	if !unchanged(desired, live) {
		t.Error("the same is not the same")
	}
	live.SetAnnotations(map[string]string{AnnotationAppliedHash: "another"})
	if unchanged(desired, live) {
		t.Error("another hash is the same")
	}
	live.SetAnnotations(nil)
	bare := desired.DeepCopy()
	bare.SetAnnotations(nil)
	if unchanged(bare, live) {
		t.Error("without a hash nothing is known")
	}
}
