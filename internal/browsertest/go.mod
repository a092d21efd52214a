module github.com/agfold/agfold/internal/browsertest

go 1.26.0

require (
	github.com/agfold/agfold v0.0.0
	github.com/chromedp/cdproto v0.160.1
	github.com/chromedp/chromedp v0.23.1
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/evanphx/json-patch/v5 v5.9.11 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/r3labs/sse/v2 v2.10.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.62.0 // indirect
	gopkg.in/cenkalti/backoff.v1 v1.1.0 // indirect
)

replace github.com/agfold/agfold => ../..
