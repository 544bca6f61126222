/** What is wrong with the source of a report, as a sentence. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}
