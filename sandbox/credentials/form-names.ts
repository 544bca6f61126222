import { Transform } from 'node:stream'
import { isReadOtherwise } from './request-target.ts'

/** How the names in a body can be found, which some servers read like those of a query; `undefined` if it has none. */
export function formOf(contentType: string | undefined): 'urlencoded' | 'multipart' | undefined {
  // A body without a type is a form to Rack, on which GitLab is built (rack/lib/rack/request.rb, form_data?).
  const type = (contentType ?? 'application/x-www-form-urlencoded').trim().toLowerCase()
  if (type.startsWith('multipart/')) return 'multipart'
  return type.startsWith('application/x-www-form-urlencoded') ? 'urlencoded' : undefined
}

/** Says which name in a form (`a=b&c=d`) isn't for data; undefined if there is none. */
export function faultOfForm(form: string): string | undefined {
  for (const pair of form.split(/[&;]/)) {
    const fault = faultOfName((pair.split('=')[0] ?? '').replaceAll('+', ' '))
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOfName(text: string): string | undefined {
  let name: string
  try {
    name = decodeURIComponent(text)
  } catch {
    return 'its form is not escaped correctly'
  }
  if (isReadOtherwise(name)) return `its form has the name ${JSON.stringify(name.slice(0, 60))}, which is not for data`
  return undefined
}

/** The headers that name a part (also in Rack, rack/lib/rack/multipart/parser.rb). */
const naming = ['content-disposition', 'content-id']
const mostHeaderBytes = 8192

/**
 * Creates a stream that passes a body with parts on, and fails before the head of a part that has a name which isn't for data. Heads are found by their
 * headers, wherever they are, because servers disagree about boundaries.
 */
export function guardParts(): Transform {
  let held = ''
  const checked = (text: string, isEnd: boolean): { readonly ready: number; readonly fault?: string } => {
    const lower = text.toLowerCase()
    for (let at = 0; ;) {
      const starts = naming.map((name) => lower.indexOf(name, at)).filter((found) => found !== -1)
      if (starts.length === 0) return { ready: isEnd ? text.length : Math.max(at, text.length - 20) }
      const start = Math.min(...starts)
      const blank = lower.slice(start, start + mostHeaderBytes).search(/\n\r?\n/)
      if (blank === -1 && text.length - start > mostHeaderBytes)
        return { ready: start, fault: 'the head of a part is too long' }
      if (blank === -1 && !isEnd) return { ready: start }
      const head = text.slice(start, blank === -1 ? undefined : start + blank).replaceAll(/[\r\n]/g, '')
      const names = head.split(/name\s*=|name\*|content-id\s*:/i).slice(1)
      for (const name of names) {
        const fault = faultOfName(
          (
            name
              .trim()
              .replace(/^["']/, '')
              .split(/["';\s]/)[0] ?? ''
          ).trim(),
        )
        if (fault !== undefined) return { ready: start, fault }
      }
      if (/name\*/i.test(head)) return { ready: start, fault: 'a name in its form has more than one meaning' }
      at = start + Math.max(blank, naming[0]?.length ?? 0)
    }
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held += chunk.toString('latin1')
      const { ready, fault } = checked(held, false)
      if (fault !== undefined) return done(new Error(fault))
      this.push(Buffer.from(held.slice(0, ready), 'latin1'))
      held = held.slice(ready)
      done()
    },
    flush(done) {
      const { fault } = checked(held, true)
      if (fault !== undefined) return done(new Error(fault))
      done(null, Buffer.from(held, 'latin1'))
    },
  })
}
