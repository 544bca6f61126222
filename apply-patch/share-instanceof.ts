/**
 * Makes `instanceof` true also for errors from another copy of this package. This is necessary because a user's tool may import a different copy from the
 * one in the program that runs the tool. Subclasses stay distinct.
 *
 * @param name the name that identifies the class, which must be the same in every version of the package
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
