/**
 * Caches the results of a function. The key is the object that is passed to the function. This saves time because most lists in a policy are used for
 * every command and never change.
 */
export function memoize<Given extends object, Made>(make: (given: Given) => Made): (given: Given) => Made {
  const known = new WeakMap<Given, { readonly made: Made }>()
  return (given) => {
    const before = known.get(given)
    if (before !== undefined) return before.made
    const made = make(given)
    known.set(given, { made })
    return made
  }
}
