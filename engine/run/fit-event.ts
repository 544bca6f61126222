import type { RunEvent } from '../core/events.ts'
import { truncateMiddle } from '../core/text/truncate.ts'

/** Programs that read lines have buffers, many of 64 KiB. */
const maxBytes = 64 * 1024 - 1
const longestText = 16 * 1024
const longestList = 256
/** Names, ids and values of the schema are shorter than this, and stay unchanged. */
const shortText = 512

/**
 * An event whose line stays below 64 KiB. A longer one has the middle cut out of its longest texts and the ends of its longest lists cut
 * off, and names the file with the whole event.
 *
 * @param keep stores the whole event and gives the file's path; undefined where that can't be done
 */
export function fitEvent(event: RunEvent, keep: (bytes: Uint8Array) => string | undefined): RunEvent {
  const whole = JSON.stringify(event)
  // No character takes more than three bytes for each of its UTF-16 units.
  if (whole.length * 3 < maxBytes || Buffer.byteLength(whole) < maxBytes) return event
  const file = keep(Buffer.from(JSON.stringify(event, undefined, 2)))
  const named = 'item' in event && file !== undefined ? { ...event, item: { ...event.item, whole_file: file } } : event
  for (let share = 1; ; share /= 2) {
    const cut = shorten(
      named,
      Math.max(shortText, longestText * share),
      Math.ceil(longestList * share),
      file,
    ) as RunEvent
    if (Buffer.byteLength(JSON.stringify(cut)) < maxBytes) return cut
  }
}

function shorten(value: unknown, text: number, list: number, file: string | undefined): unknown {
  if (typeof value === 'string') return value === file ? value : truncateMiddle(value, text, file).text
  if (Array.isArray(value)) return value.slice(0, list).map((entry) => shorten(entry, text, list, file))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shorten(entry, text, list, file)]))
}
