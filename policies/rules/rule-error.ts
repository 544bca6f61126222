import { shareInstanceof } from '../share-instanceof.ts'

/** A position in a file; lines and columns count from 1. */
export type Position = { readonly line: number; readonly column: number }

/**
 * Thrown for a rule file, a permission list or a table of commands that can't be used. Nothing must run with some of the rules missing, so the caller
 * should stop and print `path:line:column: message`.
 *
 * @example
 * try {
 *   loadRules([{ path: 'own.rules', layer: 'user', text: 'prefix_rule(' }])
 * } catch (error) {
 *   if (error instanceof RuleError) console.error(`${error.path}:${error.line}: ${error.message}`)
 * }
 */
export class RuleError extends Error {
  readonly code = 'invalid-rules'
  readonly path: string
  readonly line: number
  readonly column: number
  /** What was expected at the position of the error, in words. */
  readonly expected: string

  constructor(path: string, at: Position, message: string, expected: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RuleError'
    this.path = path
    this.line = at.line
    this.column = at.column
    this.expected = expected
  }
}

shareInstanceof('RuleError', RuleError)
