/** A command of a push (gitprotocol-pack(5), "Reference Update Request"). `from` is absent if the push creates the reference. */
type PushCommand = { readonly ref: string; readonly from: string | undefined; readonly to: string }

/** What a push asks for. `size` is the number of bytes before the pack. */
export type PushRequest = {
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  readonly size: number
}

/** What may be switched on for a push. Options of a push are missing, because servers give them any meaning. */
const known =
  /^(?:report-status(?:-v2)?|side-band-64k|quiet|atomic|ofs-delta|delete-refs|object-format=sha(?:1|256)|(?:agent|session-id)=\S*)$/
const id = /^(?:[\da-f]{40}|[\da-f]{64})$/
const none = /^0+$/

/** The most bytes in which a push may say what it asks for. */
export const mostCommandBytes = 1024 * 1024

/** Reads the beginning of the body of a push. Returns `more` if it isn't complete, and a sentence if it isn't understood. */
export function readPush(bytes: Buffer): PushRequest | 'more' | { readonly why: string } {
  const commands: PushCommand[] = []
  const refs = new Set<string>()
  let capabilities: readonly string[] | undefined
  for (let at = 0; ;) {
    if (bytes.length < at + 4) return at > mostCommandBytes ? { why: 'it names too many references' } : 'more'
    const digits = bytes.toString('latin1', at, at + 4)
    if (!/^[\da-f]{4}$/.test(digits)) return { why: 'it is not in the protocol of git' }
    const length = Number.parseInt(digits, 16)
    if (length === 0) return { commands, capabilities: capabilities ?? [], size: at + 4 }
    if (length < 5) return { why: 'it is not in the protocol of git' }
    if (bytes.length < at + length) return 'more'
    const raw = bytes.subarray(at + 4, at + length)
    const line = raw.toString('utf8').replace(/\n$/, '')
    if (!Buffer.from(line).equals(raw.at(-1) === 10 ? raw.subarray(0, -1) : raw))
      return { why: 'a name in it is not UTF-8' }
    at += length
    if (/^shallow (?:[\da-f]{40}|[\da-f]{64})$/.test(line)) continue
    const [text = '', listed, ...more] = line.split('\0')
    if (more.length > 0 || (listed !== undefined && capabilities !== undefined))
      return { why: 'it lists capabilities twice' }
    capabilities ??= (listed ?? '').split(' ').filter((word) => word !== '')
    const strange = capabilities.find((word) => !known.test(word))
    if (strange !== undefined) return { why: `git's ${JSON.stringify(strange.slice(0, 60))} is not understood` }
    const [from = '', to = '', ref = '', ...rest] = text.split(' ')
    if (!id.test(from) || !id.test(to) || from.length !== to.length || rest.length > 0 || !isPlainRef(ref)) {
      return { why: `${JSON.stringify(text.slice(0, 60))} is not an update of a reference` }
    }
    if (none.test(to)) return { why: `it deletes ${ref}` }
    if (refs.has(ref)) return { why: `it updates ${ref} twice` }
    refs.add(ref)
    commands.push({ ref, from: none.test(from) ? undefined : from, to })
  }
}

/** Whether git itself would take the name (git-check-ref-format(1)). */
function isPlainRef(ref: string): boolean {
  return (
    ref.startsWith('refs/') && !/[\p{Cc} ~^:?*[\\]/u.test(ref) && !/\.\.|@\{|\/\/|\/\.|\/$|\.$|\.lock(?:\/|$)/.test(ref)
  )
}

/** The answer to a push none of whose references is updated, in the protocol of git, so that git itself tells why. */
export function refusedPush({ commands, capabilities }: PushRequest, why: string): Buffer {
  const lines = ['unpack ok\n', ...commands.map(({ ref }) => `ng ${ref} ${why.replace(/\s+/g, ' ').slice(0, 400)}\n`)]
  const report = Buffer.concat([...lines.map(packet), flush])
  if (!capabilities.some((word) => word.startsWith('report-status'))) return flush
  if (!capabilities.includes('side-band-64k')) return report
  return Buffer.concat([packet(Buffer.concat([Buffer.from([1]), report])), flush])
}

const flush = Buffer.from('0000')

function packet(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}
