/**
 * Makes `instanceof` work for errors from another copy of this package: a user's tool may import its own copy, while the program that runs the tool has
 * a different copy. Subclasses are unaffected.
 *
 * @param name identifies the class; it must be the same in every version of the package
 */
export function shareInstanceof(name: string, kind: { readonly prototype: object }): void {
  const mark = Symbol.for(`portcullis/${name}`)
  Object.defineProperty(kind.prototype, mark, { value: true })
  Object.defineProperty(kind, Symbol.hasInstance, {
    value(this: (...args: never[]) => unknown, value: unknown): boolean {
      if (this !== kind) return Function.prototype[Symbol.hasInstance].call(this, value)
      return typeof value === 'object' && value !== null && mark in value
    },
  })
}
