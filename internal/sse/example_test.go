package sse_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/agfold/agfold/internal/sse"
)

func ExampleReader() {
	stream := ": welcome\n\n" +
		"data: {\"type\":\"RUN_STARTED\"}\n\n" +
		"event: message\ndata: {\"type\":\ndata: \"RUN_FINISHED\"}\n\n"
	r := sse.NewReader(strings.NewReader(stream), 1<<20)
	for {
		data, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q\n", data)
	}
	// Output:
	// "{\"type\":\"RUN_STARTED\"}"
	// "{\"type\":\n\"RUN_FINISHED\"}"
}

func ExampleAppend() {
	var body []byte
	body = sse.Append(body, []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`))
	fmt.Print(string(body))
	// Output:
	// data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}
}
