package model

import "testing"

func TestIsCredential(t *testing.T) {
	for v, want := range map[string]bool{
		"NPM_TOKEN=npm_1234": true, "DB_PASSWORD=swordfish-9000": true, "auth.postgresPassword=swordfish-9000": true, "apiKey=abcd-1234": true,
		"AWS_SECRET_ACCESS_KEY=abcd/1234": true, "githubToken=ghp_1234": true, "JWT_SECRET=abcd-1234": true, "clientSecret=abcd-1234": true,
		"SECRET_KEY_BASE=abcd1234": true, "PASSPHRASE=two words": true, "_authToken=abcd-1234": true,
		"POSTGRES_PASSWORD=postgres": false, "PASSWORD=dev-1": false, "PIN_TOKEN=12345678": false, "PASSWORD_FILE=/run/secrets/db": false,
		"DB_PASSWORD=/run/secrets/db": false, "AUTH_TOKEN=$(TOKEN_FROM)": false, "TOKEN=${OTHER_TOKEN}": false, "ACCESS_KEY_ID=AKIA12345678": false,
		"auth.existingSecret=db-credentials": false, "imagePullSecret=pull-credentials": false, "TOKEN=https://issuer.example": false,
		"TOKEN_URL=abcd-12345678": false, "KEY=abcd-12345678": false, "MONKEY=abcd-12345678": false, "": false, "PASSWORD": false,
	} {
		if got := len(Credentials("web", []string{v})) == 1; got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}
