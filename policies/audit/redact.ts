/** What replaces a secret. */
const mask = '[redacted]'

/** Shapes that are secrets wherever they stand; the first group, where there is one, is kept. */
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|rk|pk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|hf_[A-Za-z0-9]{20,})/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g,
  /(\b(?:bearer|basic|token)\s+)[\w.~+/=-]{8,}/gi,
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/gi,
  /((?:\b|_)(?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|credential)s?["']?\s*[=:]\s*["']?)[^\s"',;&]{4,}/gi,
  /((?:^|\s)(?:--?(?:password|passwd|token|secret|api-key|user|u))[= ])[^\s]{4,}/g,
]

const secretName = /(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|CREDENTIALS?|AUTH|COOKIE|SESSION|DSN)(?:_|$)/i
const shortest = 8

/**
 * Makes a function that masks secrets in text: by shape, and by the values of variables whose names say that they
 * hold one. Values shorter than eight characters are left, since they'd mask ordinary words.
 */
export function makeRedactor(environment: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const values = Object.entries(environment)
    .filter(([name, value]) => secretName.test(name) && (value?.length ?? 0) >= shortest)
    .flatMap(([, value]) => (value === undefined ? [] : [value]))
    .toSorted((a, b) => b.length - a.length)
  return (text) => {
    let clean = text
    for (const value of values) clean = clean.replaceAll(value, mask)
    for (const shape of shapes) {
      clean = clean.replace(
        shape,
        (_all, ...groups: unknown[]) => `${typeof groups[0] === 'string' ? groups[0] : ''}${mask}`,
      )
    }
    return clean
  }
}

/** Masks secrets in every string of a value made of plain objects, arrays and primitives, names of fields kept. */
export function redactDeep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const hidden = typeof inner === 'string' && secretName.test(name) && inner.length >= shortest
      return [name, hidden ? mask : redactDeep(inner, redact)]
    }),
  )
}
