// Package form asks a person for a JSON value that a JSON Schema describes: the payload that answers an
// interrupt.
//
// The schema comes from an agent and is not trusted. Whatever it says, making a [Form] and checking an answer
// take a bounded time. A Form returns texts of the schema as they are: the caller makes them safe to print.
package form
