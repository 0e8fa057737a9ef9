package s3

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage/request"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCredentials finds credentials in each place of the chain.
func TestCredentials(t *testing.T) {
	const object = `{"AccessKeyId": "key", "SecretAccessKey": "secret", "%s": "token", "Expiration": "2999-01-01T00:00:00Z"}`
	mux := http.NewServeMux()
	answer := func(pattern, header, want, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get(header); header != "" && got != want {
				t.Errorf("%s: %s is %q", pattern, header, got)
			}
			fmt.Fprint(w, text)
		})
	}
	answer("PUT /latest/api/token", "", "", "machine")
	answer("GET /latest/meta-data/iam/security-credentials/{$}", "X-Aws-Ec2-Metadata-Token", "machine", "role\n")
	answer("GET /latest/meta-data/iam/security-credentials/role", "X-Aws-Ec2-Metadata-Token", "machine", fmt.Sprintf(object, "Token"))
	answer("GET /container", "Authorization", "beside", fmt.Sprintf(object, "Token"))
	mux.HandleFunc("POST /sts/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("WebIdentityToken") != "workload" || r.FormValue("RoleArn") != "arn:role" {
			t.Errorf("STS got %v", r.Form)
		}
		fmt.Fprint(w, "<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>key</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>"+
			"<SessionToken>token</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></R>")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	all := login{"key", "secret", "token"}
	for name, c := range map[string]struct {
		env  map[string]string
		want login
	}{
		"environment": {map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}, all},
		"profile": {map[string]string{"AWS_PROFILE": "team", "AWS_SHARED_CREDENTIALS_FILE": write(t,
			"[default]\naws_access_key_id=other\naws_secret_access_key=other\n[ team ]\n# comment=1\naws_access_key_id = key\naws_secret_access_key = secret\n")}, login{key: "key", secret: "secret"}},
		"default": {map[string]string{"AWS_CONFIG_FILE": write(t, "[default]\naws_access_key_id=key\ns3 =\n  aws_secret_access_key = nested\naws_secret_access_key=secret\n")},
			login{key: "key", secret: "secret"}},
		"process": {map[string]string{"AWS_PROFILE": "team", "AWS_CONFIG_FILE": write(t, "[profile team]\ncredential_process = echo '"+fmt.Sprintf(object, "SessionToken")+"'\n")}, all},
		"role":    {map[string]string{"AWS_ROLE_ARN": "arn:role", "AWS_WEB_IDENTITY_TOKEN_FILE": write(t, "workload\n"), "AWS_ENDPOINT_URL_STS": server.URL + "/sts"}, all},
		"container": {map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/container",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN": "beside"}, all},
		"machine": {map[string]string{"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL}, all},
		"none":    {nil, login{}},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, "", "")
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			got, err := newChain(readSettings(), request.New(), "eu-north-1").get(t.Context())
			if got != c.want {
				t.Errorf("credentials %+v, want %+v; %v", got, c.want, err)
			}
			if p, ok := problem.Of(err); c.want == (login{}) && (!ok || p.Mend == "") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	alone(t, "", "")
	for rawURL, want := range map[string]string{
		"s3://bucket":                                        "https://bucket.s3.us-east-1.amazonaws.com/key",
		"s3://bucket/a b/c+d/?region=eu-north-1":             "https://bucket.s3.eu-north-1.amazonaws.com/a%20b/c%2Bd/key",
		"s3://with.dot/a":                                    "https://s3.us-east-1.amazonaws.com/with.dot/a/key",
		"s3://bucket/a?endpoint=http://host:9000":            "http://host:9000/bucket/a/key",
		"s3://bucket/a?endpoint=https://h/&path-style=false": "https://bucket.h/a/key",
		"s3://user:secret@bucket/a":                          "credentials",
		"s3://bucket/a?endpoint=https://user:secret@host":    "without credentials",
		"s3://bucket/a?acl=public":                           "unknown parameter: acl",
		"s3://":                                              "is invalid",
	} {
		s, err := New(rawURL)
		if err != nil {
			if p, ok := problem.Of(err); !ok || !strings.Contains(err.Error()+p.Mend, want) || strings.Contains(err.Error(), ":secret") {
				t.Errorf("New(%s): %v, want %s", rawURL, err, want)
			}
			continue
		}
		if got := s.store.url("key", nil); got != want {
			t.Errorf("%s: the object is at %s, want %s", rawURL, got, want)
		}
	}
}
