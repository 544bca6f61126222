import type { Expression, RuleStatement } from './rules-grammar.ts'
import { RuleError, type Position } from './rule-error.ts'

/** The value of an expression. */
export type Value =
  | { readonly kind: 'string'; readonly value: string; readonly at: Position }
  | { readonly kind: 'list'; readonly items: readonly Value[]; readonly at: Position }

/** The maximum number of values and of characters joined by `+` in one file. There must be a limit, because each `A = B + B` doubles the number. */
const budget = 200_000

/** The constants of one rule file, and the values of its expressions. All methods except `assign` and `value` throw if a value is of the wrong kind. */
export class Values {
  readonly #path: string
  readonly #constants = new Map<string, Value>()
  #spent = 0

  /** @param path the path of the file, for error messages */
  constructor(path: string) {
    this.#path = path
  }

  /** Assigns a value to a name, or adds it to the name's current value if the statement is `+=`. */
  assign({ name, at, value, added }: Extract<RuleStatement, { kind: 'constant' }>): void {
    const terms: readonly Expression[] = [{ kind: 'name', name, at }, value]
    this.#constants.set(name, this.value(added ? { kind: 'sum', terms, at } : value))
  }

  /** Evaluates an expression. Throws a `RuleError` if it is invalid (for example, if a name has no value) or if the file creates too many values. */
  value(expression: Expression): Value {
    this.#spend(1, expression.at)
    switch (expression.kind) {
      case 'string':
        return { kind: 'string', value: expression.value, at: expression.at }
      case 'broken-string':
        return this.fail(
          expression.at,
          'an escape in this string does not stand for a character',
          '\\xHH, \\uHHHH or \\UHHHHHHHH',
        )
      case 'list':
        return { kind: 'list', items: expression.items.map((item) => this.value(item)), at: expression.at }
      case 'name': {
        const value = this.#constants.get(expression.name)
        if (value === undefined)
          this.fail(
            expression.at,
            `${expression.name} has no value`,
            'a string, a list or a constant that is defined above',
          )
        return { ...value, at: expression.at }
      }
      case 'sum': {
        const terms = expression.terms.map((term) => this.value(term))
        const texts = terms.flatMap((term) => (term.kind === 'string' ? [term.value] : []))
        const lists = terms.flatMap((term) => (term.kind === 'list' ? [term.items] : []))
        this.#spend(
          texts.reduce((sum, text) => sum + text.length, 0),
          expression.at,
        )
        this.#spend(
          lists.reduce((sum, items) => sum + items.length, 0),
          expression.at,
        )
        if (lists.length === 0) return { kind: 'string', value: texts.join(''), at: expression.at }
        if (texts.length === 0) return { kind: 'list', items: lists.flat(), at: expression.at }
        return this.fail(expression.at, "a string and a list can't be joined with +", 'only strings or only lists')
      }
      default:
        return expression satisfies never
    }
  }

  /** Returns the items of a list. Any other value is an error. */
  list(value: Value | undefined, expected: string): readonly Value[] {
    if (value?.kind !== 'list') return this.fail(value?.at ?? { line: 1, column: 1 }, 'this is not a list', expected)
    return value.items
  }

  /** Returns the text of a string. Any other value is an error. */
  string(value: Value | undefined, expected: string): string {
    if (value?.kind !== 'string')
      return this.fail(value?.at ?? { line: 1, column: 1 }, 'this is not a string', expected)
    return value.value
  }

  /** Returns the text of a string, which must not be blank. Undefined if there is no value. */
  nonEmpty(value: Value | undefined, expected: string): string | undefined {
    if (value === undefined) return undefined
    const text = this.string(value, expected)
    return text.trim() === '' ? this.fail(value.at, 'this is empty', expected) : text
  }

  /** Returns the value, which must be one of the allowed words. Undefined if there is no value. */
  oneOf<T extends string>(value: Value | undefined, allowed: readonly T[]): T | undefined {
    if (value === undefined) return undefined
    const text = this.string(value, allowed.join(', '))
    const found = allowed.find((one) => one === text)
    return found ?? this.fail(value.at, `${JSON.stringify(text)} is not among the possible values`, allowed.join(', '))
  }

  #spend(amount: number, at: Position): void {
    this.#spent += amount
    if (this.#spent > budget) this.fail(at, 'the file creates too many values', `no more than ${budget}`)
  }

  /** Throws a `RuleError` for a position in the file. */
  fail(at: Position, message: string, expected: string): never {
    throw new RuleError(this.#path, at, message, expected)
  }
}
