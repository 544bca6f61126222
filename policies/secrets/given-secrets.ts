import { shape, type SecretShape } from './shape.ts'

const anything = /^/
const rfc7617 = 'RFC 7617 and RFC 6750'

/** Shapes of secrets that are recognized by the way they are passed to a program: in a header, a URL, a variable, a field or an option. */
export const givenSecrets: readonly SecretShape[] = [
  shape('HTTP authorization', rfc7617, 'bearer basic token', /bearer|basic|token/gi, /^(?<kept>\s+)[\w.~+/=-]+/, 8),
  shape('HTTP cookie', 'RFC 6265', 'cookie', /cookie/gi, /^(?<kept>["']?\s*:\s*["']?)[^\r\n"'\\]+/, 4),
  shape('URL with a password', 'RFC 3986, 3.2.1', '://', /:\/\//g, /^(?<kept>[^\s:/@"'\\]*:)[^\s@/"'\\]+(?<after>@)/),
  shape(
    'named value',
    'usual names of variables and fields',
    'pass secret key credential',
    /(?:pass(?:word|wd|phrase)?|secret|(?:api|access|account|private)[-_]?key|credential)/gi,
    /^(?<kept>s?\\?["']?\s*[=:]\s*\\?["']?)[^\s"',;&\\]+/i,
    4,
    anything,
  ),
  shape(
    'named token',
    'usual names of variables and fields',
    'token',
    /token/gi,
    /^(?<kept>\\?["']?\s*[=:]\s*\\?["']?)[^\s"',;&\\]+/,
    4,
    anything,
  ),
  shape(
    'named tokens',
    'usual names of variables and fields',
    'tokens',
    /tokens/gi,
    // A number of tokens is a count, as in `max_tokens: 4096`.
    /^(?<kept>\\?["']?\s*[=:]\s*\\?["']?)\d*[^\d\s"',;&\\)}\]][^\s"',;&\\]*/,
    4,
    anything,
  ),
  shape(
    'password variable',
    'libpq, MySQL, Redis and rsync manuals',
    'pgpassword mysql_pwd rediscli_auth rsync_password sshpass',
    /(?:PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH|RSYNC_PASSWORD|SSHPASS)=/g,
    /^(?<kept>["']?)[^\s"',;&\\]+/,
  ),
  shape(
    'password option',
    'curl(1), docker-login(1), gpg(1), az(1)',
    '-',
    /--?(?:password|passwd|passphrase|pass|token|secret|(?:api|account)-key|client-secret|auth-token|proxy-user|user|u)[= ]/g,
    /^(?<kept>["']?)[^\s"'\\]+/,
    4,
    /(?:^|[\s"'])$/,
  ),
  shape(
    'password for a database or login client',
    'mysql(1), mongosh(1), sshpass(1), docker-login(1)',
    'mysql mariadb mongo sshpass docker',
    /mysqldump|mysqladmin|mysql|mariadb|mongosh?|sshpass|docker login/g,
    /^(?<kept>(?:\s(?:[^-\n|;&"'\\\s]|-[^p\n|;&"'\\\s])[^\n|;&"'\\\s]*|\s)*\s-p ?)[^\s"'\\-][^\s"'\\]+/,
    2,
  ),
  shape(
    'password for Redis',
    'redis-cli(1)',
    'redis-cli',
    /redis-cli/g,
    /^(?<kept>(?:\s(?:[^-\n|;&"'\\\s]|-[^a\n|;&"'\\\s])[^\n|;&"'\\\s]*|\s)*\s-a ?)[^\s"'\\-][^\s"'\\]+/,
    2,
  ),
  shape(
    'password for an archive',
    'zip(1)',
    'zip',
    /zip/g,
    /^(?<kept>(?:\s(?:[^-\n|;&"'\\\s]|-[^P\n|;&"'\\\s])[^\n|;&"'\\\s]*|\s)*\s-P ?)[^\s"'\\-][^\s"'\\]+/,
    2,
  ),
  shape(
    'password for openssl',
    'openssl(1)',
    'openssl',
    /openssl/g,
    /^(?<kept>(?:\s(?:[^-\n|;&"'\\\s]|-[^k\n|;&"'\\\s])[^\n|;&"'\\\s]*|\s)*\s-k ?)[^\s"'\\-][^\s"'\\]+/,
    2,
  ),
  shape(
    'password piped to a login command',
    'docker-login(1)',
    '-stdin',
    /(?:echo|printf)(?: -n)?/g,
    /^(?<kept>\s+["']?)[^\s"'|\\]+(?<after>["']?\s*\|[^|\n]*-stdin)/,
    4,
  ),
  shape(
    'value written to Vault',
    'vault-kv-put(1)',
    'vault',
    /vault\s/g,
    /^(?<kept>\s*(?:kv\s+put|write)(?:\s+[^\s=|;&]+)*\s+[\w-]+=)[^\s"'\\@]+/,
    3,
  ),
]
