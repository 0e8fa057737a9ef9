package e2e

import "testing"

// TestFieldRefs deploys objects whose Tiltfile refers to fields of others, in the same resource and in another one (K10). A cycle
// is shown whole, and none of its objects is created (K11).
func TestFieldRefs(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('service.yaml')
def settings(name, value):
    return encode_yaml({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}, 'data': {'value': value}})
k8s_yaml(settings('near', ref('service/db', 'spec.clusterIP') + ':5432'))
k8s_yaml(settings('far', 'http://%s/' % ref('service/db', 'spec.clusterIP')))
k8s_resource(new_name='app', objects=['far'])
-- service.yaml --
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 5432}]}
`)
	p.says(0, []string{"preview"}, `service/db`, `configmap/near.*\n?.*spec\.clusterIP of service/db is known after apply`)
	if u := p.live("configmap/near"); u != nil {
		t.Error("a preview has created something")
	}
	p.deploys(0)
	ip := func() string {
		v, _ := p.live("service/db").Object["spec"].(map[string]any)["clusterIP"].(string)
		return v
	}
	value := func(name string) any { return p.live("configmap/" + name).Object["data"].(map[string]any)["value"] }
	if ip() == "" || value("near") != ip()+":5432" || value("far") != "http://"+ip()+"/" {
		t.Errorf("the Service has %q, the others %v and %v", ip(), value("near"), value("far"))
	}
	var stay []func()
	for _, title := range []string{"configmap/near", "configmap/far", "service/db"} {
		stay = append(stay, p.untouched(title))
	}
	p.deploys(0)
	for _, check := range stay {
		check()
	}
	if out, code := p.run("preview", "--exit-code", "--namespace", p.namespace); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}

	p.replace("Tiltfile", "k8s_resource(", "k8s_yaml(settings('one', ref('configmap/two', 'data.value')))\nk8s_yaml(settings('two', ref('configmap/one', 'data.value')))\nk8s_resource(")
	p.deploys(1, `configmap/one → configmap/two → configmap/one`)
	p.absent("configmap/one")
	p.absent("configmap/two")
}
