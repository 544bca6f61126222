import type { styleText } from 'node:util'

/** Styles a piece of text, or leaves it as it is where colour is off. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/** How much a person wants to read: the outcome where it is bad, what happens, or all of it. */
export type Detail = 'quiet' | 'normal' | 'verbose'

/** How things are put to a person. */
export type Style = {
  readonly paint: Paint
  /** A path as short as it can be said: relative within the workspace. */
  readonly shorten: (path: string) => string
  readonly detail: Detail
}
