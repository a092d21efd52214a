// share.js reads the data that an exported file holds.

// unpack returns the data of an exported file: gzip in base64.
export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}
