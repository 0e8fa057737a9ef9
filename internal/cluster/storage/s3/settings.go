package s3

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are the settings that all programs for AWS share: of the environment, else of the profile in the shared files.
type settings struct {
	region, endpoint, profile string
	login                     login
	// role and tokenFile get credentials for a token of a workload.
	role, tokenFile string
	session         string
	// process is a command that prints credentials.
	process string
}

// login are credentials.
type login struct{ key, secret, token string }

func (l login) complete() bool { return l.key != "" && l.secret != "" }

func readSettings() settings {
	profile := cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"))
	config := section(shared("AWS_CONFIG_FILE", "config"), "profile "+cmp.Or(profile, "default"), cmp.Or(profile, "default"))
	secrets := section(shared("AWS_SHARED_CREDENTIALS_FILE", "credentials"), cmp.Or(profile, "default"))
	either := func(name string) string { return cmp.Or(secrets[name], config[name]) }
	set := settings{
		profile:   profile,
		region:    cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), config["region"]),
		endpoint:  cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), config["endpoint_url"]),
		role:      cmp.Or(os.Getenv("AWS_ROLE_ARN"), config["role_arn"]),
		tokenFile: cmp.Or(os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), config["web_identity_token_file"]),
		session:   cmp.Or(os.Getenv("AWS_ROLE_SESSION_NAME"), config["role_session_name"], "hone"),
		process:   either("credential_process"),
	}

	set.login = login{os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")}
	if !set.login.complete() {
		set.login = login{either("aws_access_key_id"), either("aws_secret_access_key"), either("aws_session_token")}
	}
	return set
}

// shared returns the text of a shared file, empty if there is none.
func shared(variable, name string) string {
	path := os.Getenv(variable)
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		path = filepath.Join(home, ".aws", name)
	}
	raw, _ := os.ReadFile(path) // a file that cannot be read has no credentials
	return string(raw)
}

// section returns the settings of the sections with one of the names.
func section(text string, names ...string) map[string]string {
	found := map[string]string{}
	inside := false
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") // a nested setting
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "["); ok {
			title, _, _ = strings.Cut(title, "]")
			inside = slices.Contains(names, strings.Join(strings.Fields(title), " "))
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if inside && !indented && !strings.HasPrefix(line, "#") {
			found[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	return found
}
