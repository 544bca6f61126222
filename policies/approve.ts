import type { Action, Approved } from './action.ts'

/** Copies an action and freezes the copy deeply, so that what runs is exactly what was judged. */
export function freezeAction<A extends Action>(action: A): A {
  return deepFreeze(structuredClone(action))
}

/**
 * The only function that creates an `Approved` action. Only the Guardian calls it, on an action that `freezeAction` returned, and only if the verdict
 * allows the action.
 */
export function approve<A extends Action>(frozen: A): Approved<A> {
  return frozen as Approved<A>
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
