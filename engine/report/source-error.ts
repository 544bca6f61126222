/** An error whose message says in one sentence why the source of a report can't be used. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}
