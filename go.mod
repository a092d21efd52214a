module github.com/agfold/agfold

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/evanphx/json-patch/v5 v5.9.11
	github.com/google/jsonschema-go v0.4.3
	github.com/r3labs/sse/v2 v2.10.0
	github.com/rivo/uniseg v0.4.7
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
	gopkg.in/cenkalti/backoff.v1 v1.1.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.62.0 // indirect
)
