const edges = /^[\s\u0085]+|[\s\u0085]+$/g

/** Trims Unicode white space, as Rust does: NEL is trimmed, the byte-order mark isn't. */
export function trim(text: string): string {
  return text.replace(edges, (run) => run.slice(run.indexOf('\uFEFF'), run.lastIndexOf('\uFEFF') + 1))
}
