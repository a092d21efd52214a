// Package protobuf is the binary binding of AG-UI 1.0 (HTTP + Protobuf): the events of an answer as protobuf messages,
// each after its length, in place of server-sent events (P-PB-1 to 6). A client asks for it with
//
//	client.NewHTTP(url, &client.HTTPOptions{Binding: protobuf.Binding{}})
//
// and a server offers it with
//
//	serve.Agent(agent, &serve.AgentOptions{Binding: protobuf.Binding{}})
//
// Neither of those packages imports this one: a program that does not name it does not contain it.
//
// A [Reader] decodes straight to events, without JSON in between: an event that is only ids and texts becomes a typed
// event, any other one a frame made from a value. Both enter the pipeline where the frames of server-sent events do.
//
// The wire is narrower than JSON. [Binding.Append] says what it has to leave out: the types that it has no arm for (see
// [Binding.Covered]), members that AG-UI 1.0 does not describe, the extra members of patch operations, and the digits of
// numbers that a float64 cannot hold.
//
// The rules cited as P-… are in PROTOCOL.md.
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package protobuf
