/**
 * Makes `instanceof` work for errors that another copy of this package created. A user's tool may import its own copy instead of using that of the
 * program that runs it. Subclasses are unaffected.
 *
 * @param name a name that is the same in every version of the package
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
