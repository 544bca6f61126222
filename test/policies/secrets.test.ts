import { describe, expect, test } from 'vitest'
import { makeRedactor, redactDeep, SecretStream } from '../../policies/index.ts'
import { secretShapes } from '../../policies/secrets/shapes.ts'

const redact = makeRedactor({})
const body = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0'
const hex = '0123456789abcdef'.repeat(4)

/** Texts with a secret, each with the part that must be masked. They are built from pieces, so that scanners don't report this file. */
const secrets: readonly (readonly [string, string])[] = [
  ...[
    `AKIA${'Z7'.repeat(8)}`,
    `ghp_${body}`,
    `github_pat_${body}`,
    `glpat-${body}`,
    `xoxb-${body}`,
    `xapp-${body}`,
    `npm_${body}`,
    `pypi-${body}`,
    `rubygems_${hex}`,
    `dckr_pat_${body}`,
    `sk_live_${body}`,
    `whsec_${body}`,
    `sk-ant-api03-${body}`,
    `sk-proj-${body}`,
    `AIza${body}`,
    `ya29.${body}`,
    `GOCSPX-${body}`,
    `hf_${body}`,
    `r8_${body}`,
    `gsk_${body}`,
    `xai-${body}`,
    `SG.${body.slice(0, 22)}.${body}`,
    `SK${hex.slice(0, 32)}`,
    `dop_v1_${hex}`,
    `fo1_${body}`,
    `dapi${hex.slice(0, 32)}`,
    `lin_api_${body}`,
    `shpat_${hex.slice(0, 32)}`,
    `hvs.${body}`,
    `glsa_${body}`,
    `NRAK-${'Q8'.repeat(14)}`,
    `sntrys_${body}`,
    `dp.pt.${body}`,
    `ATATT3${body}`,
    `eyJhbGciOiJI.${body}.${body}`,
    `AGE-SECRET-KEY-1${'Q8'.repeat(30)}`,
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`,
  ].map((secret) => [secret, secret] as const),
  ['auth_tokens=12345678abcd', '12345678abcd'],
  ...[
    'PGPASSWORD=XX psql -h db',
    'mysql -uroot -pXX db',
    'mysql -u root --password=XX',
    'sshpass -p XX ssh h',
    'docker login -u me -p XX',
    'echo XX | docker login --password-stdin r',
    'redis-cli -h h -a XX ping',
    'gpg --batch --passphrase XX -d f',
    'az storage blob list --account-key XX',
    'openssl enc -aes256 -k XX -in f',
    'vault kv put secret/a value=XX',
    'zip -P XX a.zip b',
    '//registry.npmjs.org/:_authToken=XX',
    'Cookie: session=XX',
    'curl -u me:XX https://h',
    'Authorization: Bearer XX',
    'Authorization: Basic XX',
    'postgres://me:XX@db/x',
    '{"client_secret": "XX"}',
    'AccountKey=XX;EndpointSuffix=x',
    'aws_secret_access_key = XX',
    'https://hooks.slack.com/services/XX',
    'https://discord.com/api/webhooks/123/XX',
    'DB_PASSWORD=XX',
    'accountKey: XX',
  ].map((text) => [text.replace('XX', body), body] as const),
]

test('masks the number of a token, and what only begins like a count', () => {
  expect(redact('token: 123456 auth_tokens=123456abc')).toBe('token: [redacted] auth_tokens=[redacted]')
})

describe('masking secrets', () => {
  test('knows at least 40 shapes, each with its source', () => {
    expect(secretShapes.length).toBeGreaterThanOrEqual(40)
    for (const { what, source, near } of secretShapes)
      expect([what, source !== '', near.every((part) => part === part.toLowerCase())]).toEqual([what, true, true])
  })

  test.each(secrets)('%s', (text, secret) => {
    for (const shown of [text, `before ${text} after`, `x="${text}"`]) expect(redact(shown)).not.toContain(secret)
  })

  test.each(secrets)('leaves JSON intact: %s', (text, secret) => {
    const masked = redact(JSON.stringify({ a: [text, 'b'], c: `x ${text}` }))
    expect(Object.keys(JSON.parse(masked) as object)).toEqual(['a', 'c'])
    expect(masked).not.toContain(secret)
  })

  test.each([
    'git commit -m "fix the token parser"',
    'const key = values[0]',
    'npm run test:unit -- --reporter=verbose',
    'see https://example.com:8080/path?q=1',
    'sha512-abcdef and sha256:0011',
    'task-list-of-the-longest-possible-name',
    'docker run -p 8080:80 image',
    'cp -p a b; mkdir -p src/deep',
    'prompt_tokens: 12345678, max_tokens=100000',
    '{"input_tokens": 70000}',
  ])('leaves ordinary text alone: %s', (text) => expect(redact(text)).toBe(text))

  test.each(secrets)('also in pieces, wherever the text is split: %s', (text, secret) => {
    const whole = `Here it is: ${text} and on it goes.\nThen more.\nAnd more.\n`
    const tell = (pieces: readonly string[]): string => {
      const stream = new SecretStream(redact)
      return pieces.map((piece) => stream.push(piece)).join('')
    }
    const half = secret.slice(0, Math.ceil(secret.length / 2))
    for (let at = 0; at <= whole.length; at++) {
      const told = tell([whole.slice(0, at), whole.slice(at)])
      expect(told).not.toContain(secret)
      expect(whole.slice(0, at).includes(half) && tell([whole.slice(0, at)]).includes(half)).toBe(false)
    }
    for (const size of [1, 2, 3, 7]) {
      const told = tell(whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [])
      expect(told).not.toContain(half)
      expect(told).toContain('Here it is')
    }
  })

  test('text in pieces without a secret is emitted completely', () => {
    const text =
      'The token bucket (see https://example.com/a?b=1) fills, basic as it is: tokens, a password policy.\nAnd so on and on.\nAnd on it goes.\n'
    const stream = new SecretStream(redact)
    expect([...text].map((piece) => stream.push(piece)).join('')).toBe(text)
    stream.reset()
    expect(stream.push('Plain words are told but the last')).toBe('Plain words are told but the ')
  })

  test('is fast for every text, whatever is repeated in it', () => {
    const pieces = [
      'a-',
      'sk-a-',
      'x://a:',
      'token ',
      '-----BEGIN PRIVATE KEY-----',
      'mysql ',
      'eyJaaaaaaaaa.',
      'echo a|',
      'cookie:',
      'secret=',
      'vault kv put ',
      '1.a.b',
      'glc_',
      '"',
      ' ',
    ]
    // This takes seconds even on the slowest machine. A regular expression that needs quadratic time would never end.
    for (const piece of pieces) redact(piece.repeat(200_000 / piece.length))
    for (const [text] of secrets) redact(`${text.slice(0, -1)}${' '.repeat(3)}`.repeat(2_000))
  })

  test('does not change fields that only their issuer can read', () => {
    const value = { opaque: `ghp_${body}`, text: `ghp_${body}` }
    expect(redactDeep(value, redact, { untouched: new Set(['opaque']) })).toEqual({
      opaque: `ghp_${body}`,
      text: '[redacted]',
    })
  })
})

test('megabytes of text without a line break are masked like any other', () => {
  expect(redact(`cookie:${'cookie:'.repeat(1_500_000)}`)).toMatch(/^cookie:\[redacted\]/)
})

test('nothing of a secret is left, however long it is', () => {
  for (const length of [10_000, 150_000, 153_600, 153_601, 1_000_000]) {
    const masked = redact(`Authorization: Bearer ${body.repeat(length / body.length)}${body}THE-END`)
    expect(masked).toContain('[redacted]')
    expect(masked).not.toContain('THE-END')
  }
})
