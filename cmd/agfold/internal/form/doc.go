// Package form asks a person for a JSON value that a JSON Schema describes: the payload that answers an
// interrupt.
//
// The schema comes from an agent and is not trusted. Whatever it says, making a [Form] and checking an answer
// take a bounded time: a schema that is too large is not used, its regular expressions count for what they expand to,
// it is compiled only when an answer is checked, and an answer that is too long for the schema is not checked. A Form
// returns texts of the schema as they are: the caller makes them safe to print.
package form
