/**
 * Makes `instanceof` also true for errors that come from a different copy of this package. There may be two copies, because a user's tool imports
 * one, and the program that runs the tool contains another. Subclasses stay distinct.
 *
 * @param name the name of the class, which must be the same in every version of the package
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
