package model

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// credentialName matches names whose values are credentials, as variables, fields of YAML and options of programs are spelt. A field
	// "secret" often names an object.
	credentialName = regexp.MustCompile(`(?i)(password|passwd|passphrase|token|(^|_)secret|client[_.-]?secret|secret_key_base|` +
		`(api|access|private|secret|auth|signing|encryption)[_.-]?key)$`)
	// noCredential matches values that are none, whatever their name: short ones, words, numbers, paths, addresses, and references to
	// variables. To hide a word would damage many ordinary lines.
	noCredential = regexp.MustCompile(`(?s)^(.{0,7}|[A-Za-z][a-z]*|[0-9]+|[/.~$<{%].*|[a-z]+://.*)$`)
)

// IsCredential reports whether a variable holds a credential, by its name and the form of its value.
func IsCredential(name, value string) bool {
	return credentialName.MatchString(name) && !noCredential.MatchString(value)
}

// Credentials returns the credentials among variables ("K=V") of an owner, such as a resource.
func Credentials(owner string, variables []string) []Secret {
	var out []Secret
	for _, v := range variables {
		if name, value, _ := strings.Cut(v, "="); IsCredential(name, value) {
			out = append(out, Secret{Name: owner, Key: name, Value: value})
		}
	}
	return out
}

// Credentials returns the credentials that a resource passes to builds and commands.
func (m Manifest) Credentials() []Secret {
	var variables []string
	for _, image := range m.Images {
		switch {
		case image.Docker != nil:
			for name, value := range image.Docker.BuildArgs {
				if value != nil {
					variables = append(variables, name+"="+*value)
				}
			}
			for _, c := range image.Docker.Caches() {
				variables = append(variables, c.variables()...)
			}
		case image.Custom != nil:
			variables = append(variables, image.Custom.Command.Env...)
		}
	}
	for _, c := range m.commands() {
		variables = append(variables, c.Env...)
	}
	slices.Sort(variables)
	return Credentials(string(m.Name), variables)
}

// commands returns the commands that a resource runs on this machine, apart from builds and probes.
func (m Manifest) commands() []Cmd {
	switch d := m.CustomDeploy(); {
	case m.IsLocal():
		return []Cmd{m.Local.Update, m.Local.Serve, m.Local.Down}
	case d != nil:
		return []Cmd{d.Apply, d.Delete}
	}
	return nil
}
