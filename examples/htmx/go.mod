module github.com/agfold/agfold/examples/htmx

go 1.26.0

replace github.com/agfold/agfold => ../..

require (
	github.com/agfold/agfold v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/evanphx/json-patch/v5 v5.9.11 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/r3labs/sse/v2 v2.10.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.62.0 // indirect
	gopkg.in/cenkalti/backoff.v1 v1.1.0 // indirect
)
