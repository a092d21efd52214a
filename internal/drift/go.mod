module github.com/agfold/agfold/internal/drift

go 1.26.0

require (
	github.com/agfold/agfold v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/evanphx/json-patch/v5 v5.9.11 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/agfold/agfold => ../..
