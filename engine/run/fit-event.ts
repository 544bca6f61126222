import type { RunEvent } from '../core/events.ts'
import { harmlessJson } from '../core/text/harmless.ts'
import { truncateMiddle } from '../core/text/truncate.ts'

/** The maximum size of an event's line, in bytes. Many programs that read lines have a buffer of only 64 KiB. */
const maxBytes = 64 * 1024 - 1
const longestText = 16 * 1024
const longestList = 256
/** Texts of up to this many characters are never shortened. Names, ids and the fixed values of the event schema are all shorter. */
const shortText = 512

/**
 * Shortens an event if its line would have 64 KiB or more: the middle is cut out of its longest texts, and the end is cut off its longest lists. The
 * whole event is stored in a file if possible. The marks where texts were cut name this file, and so does the event's item, if there is one.
 *
 * @param keep stores the whole event, and returns the file's path, or undefined if that isn't possible
 */
export function fitEvent(event: RunEvent, keep: (bytes: Uint8Array) => string | undefined): RunEvent {
  // A UTF-16 code unit takes at most six bytes of a line, so the bytes of a short event need not be counted.
  if (JSON.stringify(event).length * 6 < maxBytes || isShort(event)) return event
  const file = keep(Buffer.from(JSON.stringify(event, undefined, 2)))
  const named = 'item' in event && file !== undefined ? { ...event, item: { ...event.item, whole_file: file } } : event
  for (let share = 1; ; share /= 2) {
    const cut = shorten(
      named,
      Math.max(shortText, longestText * share),
      Math.ceil(longestList * share),
      file,
    ) as RunEvent
    if (isShort(cut)) return cut
  }
}

/** Whether an event fits on a line as it is printed. */
function isShort(event: RunEvent): boolean {
  return Buffer.byteLength(harmlessJson(JSON.stringify(event))) < maxBytes
}

function shorten(value: unknown, text: number, list: number, file: string | undefined): unknown {
  if (typeof value === 'string') return value === file ? value : truncateMiddle(value, text, file).text
  if (Array.isArray(value)) return value.slice(0, list).map((entry) => shorten(entry, text, list, file))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shorten(entry, text, list, file)]))
}
