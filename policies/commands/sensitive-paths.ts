import { posix } from 'node:path'
import { isSecretName } from '../secrets/secret-names.ts'
import { plainGlob } from './plain-glob.ts'
import { patternTargetsSecrets } from './secret-patterns.ts'

/** Folders in projects that may contain either secrets or code that handles secrets. */
const secretFolders = new Set(['secrets', '.secret', '.secrets', '.envs', 'credentials', '.auth', 'secrets-store'])
/** Folders of which even the names of the files are private. */
const privateFolders: readonly string[] = ['.ssh', '.gnupg', '.aws', '.kube', '.docker']
/** Names of files that are meant to be read by others, such as source code and documentation. */
const source =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kts?|cc?|cpp|cs|hh?|hpp|swift|php|scala|ex|exs|hs|ml|vue|svelte|html?|s?css|md|mdx|rst|adoc|proto|graphql|snap|tf|ipynb)$/

const longestPattern = 1_000
/**
 * The maximum length of a path that is judged. No system opens a longer path (limits.h(0p), PATH_MAX). The limit applies after a path is joined to
 * its folder, so a path that could be opened may be refused too.
 */
const longestPath = 4_096

/** The paths in `/dev` that aren't sensitive: harmless devices, shared memory, and bash's `tcp` and `udp`, which are judged as connections. */
const plainDevice =
  /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd\/[0-9]+|shm(?:\/.*)?|ptmx|console|tcp\/.*|udp\/.*)?$/

/** Files and folders of the system that a path with `..` may lead to. Of the devices, only sensitive ones are included. */
const ofTheRoot =
  /^\/+(?:proc\/|sys\/+kernel\/|dev\/+(?:[shv]d[a-z]|nvme|mmcblk|dm-|md[0-9]|mapper|disk|loop|block|char|k?mem|kmsg|port|core|input|n?st[0-9]|tty[a-z0-9]|pts|vcs|watchdog|fd\/))/

/** The part of a path after the first `..` that leads to one of the `ofTheRoot` folders, through a link or by going far enough up. */
function behindDots(path: string): string | undefined {
  for (let at = path.indexOf('../'); at >= 0; at = path.indexOf('../', at + 1)) {
    const rest = path.slice(at + 2)
    if (ofTheRoot.test(rest)) return rest
  }
  return undefined
}

/** Environment files that are meant to be read, such as examples. */
const examples = /^\.env\.(?:example|sample|template|dist|defaults?)$/

/**
 * Finds the part of a path or pattern that shows that it leads to credentials; undefined if there is none. Only the spelling is judged, but `..`,
 * doubled slashes and case don't hide credentials. A pattern counts if it could match a path that leads to credentials, and so does a path or pattern
 * that is too long to be judged. In a sandbox, files with credentials are unreadable anyway, and this check explains the refusal before the attempt.
 *
 * @internal
 */
export function findSensitive(path: string, isPattern = false): string | undefined {
  if (isPattern && path.length > longestPattern) return 'a pattern too long to be judged'
  if (path.length > longestPath) return 'a path too long to be judged'
  // On some systems a name still means the same file if it is cut at a NUL, or if a trailing dot or space is left out.
  const clean = withoutEnd(posix.normalize(composed(path.toLowerCase()).replace(/\0.*/s, '')), '. ')
  const parts = clean.split('/').filter((part) => part !== '' && part !== '.')
  const rooted = behindDots(path.toLowerCase())
  if (rooted !== undefined) {
    const known = findSensitive(rooted, isPattern)
    if (known !== undefined) return known
  }
  if (/\/\.ssh\/[\w.-]+\.pub$|\/\.ssh\/known_hosts$/.test(clean)) return undefined
  if (
    /^\/proc\//.test(clean) &&
    /(?:environ|mem|maps|map_files|kcore|vmcore|root|cwd|fd|cmdline|tcp_fastopen_key|stable_secret)(?:\/|$)|[*?[]/.test(
      clean,
    )
  ) {
    // The last three are what `/dev/stdin` and its like lead to.
    if (!/^\/proc\/self\/(?:cmdline|fd\/[0-2])$/.test(clean)) return '/proc'
  }
  // `/dev/fd` leads to the folder of a process in `/proc`, and from there a path can reach the other data of that process.
  if (/^\/dev\/fd\/.*[^0-9]|^\/dev\/fd\/?$|^\/dev\/\*/.test(clean) || /^\/dev\/fd\/\.\./.test(path)) return '/proc'
  if (/(?:^|\/)ssh_host_\w*key$/.test(clean) || (clean.includes('etc/ssh/') && /[*?[]/.test(clean)))
    return 'ssh_host_key'
  if (clean.startsWith('/dev/') && !plainDevice.test(clean)) return '/dev'
  // The kernel's own files. Reading some of them consumes their data, and the effects of reading others differ between kernels (debugfs(5)).
  if (/^\/sys\/kernel\/(?:debug|tracing)(?:\/|$)/.test(clean)) return '/sys/kernel/debug'
  // A pattern may match `/proc` without naming it.
  const mayBeProc = isPattern && clean.startsWith('/') && (parts[0] === '*' || matches(parts[0] ?? '', 'proc', true))
  if (clean === '/proc/kmsg' || (mayBeProc && /\/(?:environ|mem|maps|cmdline|fd|root|cwd)(?:\/|$)/.test(clean)))
    return '/proc'
  const last = parts.at(-1) ?? ''
  if (
    (matches(last, 'config', isPattern) || last === 'config.worktree') &&
    parts.slice(0, -1).some((part) => part.endsWith('.git'))
  )
    return '.git/config'
  const hidden = privateFolders.find((name) => parts.some((part) => matches(part, name, isPattern)))
  if (hidden !== undefined) return hidden
  if (
    isPattern &&
    patternTargetsSecrets(last, (name) => wildcard(last, name) && (/^\.|^\[/.test(last) || !name.startsWith('.')))
  )
    return last
  const folder = parts.slice(0, -1).find((part) => secretFolders.has(part))
  if (folder !== undefined && !source.test(last)) return folder
  if (isSecretName(clean)) return last
  if (/^\.env(?:\.|$)/.test(last) && !examples.test(last)) return '.env'
  if (/^id_(?:rsa|dsa|ecdsa|ed25519)/.test(last) && !last.endsWith('.pub')) return last
  if (/(?:^|[-_.])(?:ca|cacert|chain|fullchain|ca-bundle|root|pub|public)\.pem$/.test(last)) return undefined
  if (/\.(?:pem|key|p8|pk8|p12|pfx|jks|keystore|kdbx|ppk)$/.test(last)) return last
  const original = withoutBackupEnd(clean)
  return original === clean ? undefined : findSensitive(original, isPattern)
}

/** The folder that a path names or is in, if even the names of the files in that folder are private. */
export function findPrivateFolder(path: string, isPattern = false): string | undefined {
  const known = findSensitive(path, isPattern)
  return known !== undefined && (privateFolders.includes(known) || known === '/proc') ? known : undefined
}

/**
 * Whether a search through everything below a path would find credentials. This is the case for a home directory, the root of the file system, some
 * folders of the system (such as `/etc`, `/proc` and `/var`), and parent folders (`..`).
 */
export function coversSensitive(path: string): boolean {
  const clean = withoutEnd(posix.normalize(path), '/')
  return (
    /^(?:|~[^/]*|\/(?:root|home|Users|etc|proc|run|var|private|mnt|media)|\/(?:home|Users)\/[^/]+|~\/\.config|(?:\.\.\/)*\.\.)$/.test(
      clean,
    ) || /^\/proc(?:\/|$)/.test(clean)
  )
}

/** Composes letters and accents into single characters. Overlong names stay as they are, because sorting a long run of accents is slow. */
function composed(path: string): string {
  if (/^[\u0000-\u007f]*$/.test(path)) return path
  return path
    .split('/')
    .map((name) => (name.length > 1_024 ? name : name.normalize('NFC')))
    .join('/')
}

/** Removes trailing characters of a given set from a text. */
function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}

/** Whether a segment of a path or pattern matches a name. As in the shell, a leading wildcard doesn't match a dot. A lone `*` never matches. */
function matches(segment: string, name: string, isPattern: boolean): boolean {
  if (segment === name) return true
  if (!isPattern || !/[*?[]/.test(segment)) return false
  if (/^[*?[]/.test(segment)) return !name.startsWith('.') && segment !== '*' && wildcard(segment, name)
  return wildcard(segment, name)
}

/** Matches `*` and `?`, and goes back at most to the last `*`. A bracket counts as any one character, which can only add matches. */
function wildcard(pattern: string, name: string): boolean {
  const simple = plainGlob(pattern)
  let [at, star, mark] = [0, -1, 0]
  let inName = 0
  while (inName < name.length) {
    if (simple[at] === '?' || simple[at] === name[inName]) {
      at++
      inName++
    } else if (simple[at] === '*') {
      star = at++
      mark = inName
    } else if (star >= 0) {
      at = star + 1
      inName = ++mark
    } else return false
  }
  while (simple[at] === '*') at++
  return at === simple.length
}

/** Removes the extension that a file gets when it is backed up or decrypted (`wp-config.php.bak`, `secrets.yaml.dec`, `id_rsa~`). */
function withoutBackupEnd(name: string): string {
  const end = /(?:\.(?:bak|backup|old|orig|save|copy|tmp|dec|decrypted|plain)|~)$/.exec(name)
  return end === null || end.index === 0 ? name : name.slice(0, end.index)
}
