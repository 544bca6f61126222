import type { styleText } from 'node:util'

/** Styles a piece of text, or returns it unchanged if colour is off. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/** How much a person wants to read: only problems, what the run does, or all details. */
export type Detail = 'quiet' | 'normal' | 'verbose'

/** How output is presented to a person. */
export type Style = {
  readonly paint: Paint
  /** Returns the form in which a path is shown: relative to the workspace if it is inside the workspace, otherwise unchanged. */
  readonly shorten: (path: string) => string
  readonly detail: Detail
}
