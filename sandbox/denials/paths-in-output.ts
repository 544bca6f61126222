import { isAbsolute, join, normalize } from 'node:path'

/** How many characters of a line are examined. An error message names a path or two, but a line of a command's output may be megabytes long. */
const longest = 2_000

const reason = '(?:Read-only file system|Permission denied|No such file or directory|Device or resource busy)'
/** Matches error messages such as `cat: f: Permission denied`, also if Perl has appended a line number. */
const before = new RegExp(`^(.*): ${reason}(?: at .+ line \\d+)?\\.?$`, 'i')
/** Matches error messages such as `zsh: permission denied: f`. */
const after = new RegExp(`${reason}: (\\S.*)$`, 'i')

/** Matches the beginning of a message that ends with a path, such as `cannot create f`. */
const inability = /^(?:cannot|can't|could not|couldn't|unable to|failed to)(?: |$)/i
/** Matches the system call with which an error message of a Go program begins, as in `open f`. */
const call = /^(?:access|chmod|chown|create|link|lstat|mkdir|open|openat|remove|rename|rmdir|stat|symlink|unlink) /

/**
 * The paths that an error message is about: quoted paths and absolute paths or, if there are none, the text next to the reason, which is where
 * programs usually name the path. Relative paths are resolved against `cwd`.
 */
export function namedPaths(complaint: string, cwd: string): readonly string[] {
  const message = complaint.slice(0, longest)
  // If the message has at least three parts separated by colons, the first part names the program that reports the error.
  const line = message.replace(/^[^:]+: (?=.*: )/, '')
  const marked = [
    ...[...line.matchAll(/(?<=^|[\s(=:,[])['"`‘“]([^'"`‘’“”]+)['"`’”](?=$|[\s):,.;\]])/g)].map(
      (match) => match[1] ?? '',
    ),
    ...[...line.matchAll(/(?:^|[\s:=(])(\/[^\s:'"`)]+)/g)].map((match) => match[1] ?? ''),
  ]
  const texts = marked.length > 0 ? marked : nextToReason(line, line !== message)
  const paths = texts
    .filter((text) => text !== '' && text.length < 4096 && !text.includes('\0') && !text.includes('://'))
    .map((text) => normalize(isAbsolute(text) ? text : join(cwd, text)))
  return [...new Set(paths)]
}

/**
 * The path next to the reason in an error message; an empty list if there is none.
 *
 * @param complainer whether the line begins with the name of the program that reports the error
 */
function nextToReason(line: string, complainer: boolean): readonly string[] {
  const behind = after.exec(line)?.[1]
  if (behind !== undefined) return [behind]
  // tar writes `f: Cannot open: REASON`, so a part such as `Cannot open` is skipped.
  const parts = (before.exec(line)?.[1] ?? '').split(': ').filter((part) => !/^cannot \w+$/i.test(part))
  const last = parts.at(-1) ?? ''
  // In `could not lock config file PATH`, only the last word is the path.
  if (inability.test(last)) return last.split(' ').slice(-1)
  if (call.test(last)) return [last.replace(call, '')]
  // If the message has only one part before the reason, that part is the program's own name.
  return complainer || parts.length > 1 ? [last] : []
}

/** Patterns for the error messages of programs that could not connect. Each captures the host's name. */
const unreachable: readonly RegExp[] = [
  /Could not resolve host(?:name)?:? '?([\w.-]+)/i,
  /(?:getaddrinfo|connect|getaddrinfo\(\)) (?:ENOTFOUND|EAI_AGAIN|EPERM|ENETUNREACH|ECONNREFUSED) ([\w.:-]+)/,
  /unable to access '\w+:\/\/(?:[^@/']*@)?([\w.-]+)/,
  /ssh: (?:Could not resolve hostname|connect to host) ([\w.-]+)/,
  /(?:Failed|failed) to (?:connect|resolve|fetch|lookup)[^:]*?(?:to|host|from)? ['"]?(?:\w+:\/\/)?([\w-]+(?:\.[\w-]+)+)/,
  /dial tcp: lookup ([\w.-]+)/,
  /resolve '([\w.-]+)'/,
]

/** The host that a line reports as unreachable; undefined if the line is not such an error message. */
export function namedHost(line: string): string | undefined {
  const start = line.slice(0, longest)
  return unreachable.map((pattern) => pattern.exec(start)?.[1]).find((match) => match !== undefined)
}
