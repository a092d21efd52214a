package codec

// Message and Content walk a **messages.Message and a *messages.Content, for the packages above that package. It sets
// them when it is initialised, because no exported function may show that this package exists.
var Message, Content func(c *Codec, p any)
