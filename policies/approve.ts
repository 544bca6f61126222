import type { Action, Approved } from './action.ts'

/** A deeply frozen copy of an action: what is judged is then what runs. */
export function freezeAction<A extends Action>(action: A): A {
  return deepFreeze(structuredClone(action))
}

/**
 * The one place that makes an `Approved`. Only the guardian calls it, with an action that `freezeAction` made and a
 * verdict that allows it.
 */
export function approve<A extends Action>(frozen: A): Approved<A> {
  return frozen as Approved<A>
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
