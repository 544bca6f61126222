/** What is wrong with what a report was to be read from, as a sentence. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}
