import { decodeText, encodeText } from '../path-bytes.ts'
import { keyOf, type ConfigEntry } from './config-file.ts'

/** Patterns for the names of settings that never reach commands, in most cases because the settings contain a secret or the path to one. */
const secretKeys: readonly RegExp[] = [
  /^http\.(?:.*\.)?(?:extraheader|sslkey|sslcert|sslkeytype|proxysslkey|proxysslcert|cookiefile|savecookies)$/s,
  /^credential\./s,
  // `actions/checkout` leaves a setting with an ssh command that contains the path of a key file.
  /^core\.(?:sshcommand|askpass|gitproxy)$/,
  /(?:token|secret|passwd|password|passphrase|smtppass|\.pass|apikey)$/,
  /oauth[a-z0-9-]{0,40}$/,
  // Includes have already been resolved. If they were kept, they would name files that commands must not see.
  /^include\.path$/,
  /^includeif\..*\.path$/s,
  // A file system monitor is of no use to commands: they can't reach the host's, and one that a command starts ends with the command.
  /^core\.fsmonitor$/,
]

/** Matches access tokens of well-known services, which can be recognized by their prefixes. */
const secretValue = /\b(?:gh[pousr]_[A-Za-z0-9]|github_pat_|glpat-|xox[abp]-)/i
const secretHeader = /^\s*(?:proxy-)?authorization\s*:/i

/**
 * Removes user names and passwords from the URLs in a text. In `ssh` URLs, the user name stays, because without it the URL would refer to a different
 * account.
 */
export function withoutUserinfo(text: string): string {
  return text.replace(/:\/\/[^/ \t\n\v\f\r"']*@/g, (userinfo: string, at: number) => {
    const isSsh = /(?:^|[^a-z0-9+.-])(?:git\+)?ssh$/i.test(text.slice(Math.max(at - 8, 0), at))
    const name = isSsh ? /^:\/\/([^:@]*)/.exec(userinfo)?.[1] : ''
    return `://${name === '' ? '' : `${name}@`}`
  })
}

/** The content of a file without user names and passwords in URLs; the same buffer if there are none. */
export function scrubbed(content: Buffer): Buffer {
  const text = decodeText(content)
  if (!text.includes('@') || !text.includes('://')) return content
  const clean = withoutUserinfo(text)
  return clean === text ? content : encodeText(clean)
}

/**
 * The settings that commands see: all except those that contain secrets, name files with secrets, or are of no use to commands (see `secretKeys`).
 * User names and passwords are removed from URLs. Other settings are kept, even those that make git run programs, because git runs confined.
 *
 * @param entries settings in which includes have been resolved
 * @param rewritten the beginnings of addresses that git reads as those of the proxy. No other setting may change them before
 * @returns the remaining settings, and whether any secrets were removed
 */
export function withoutSecrets(
  entries: readonly ConfigEntry[],
  rewritten: readonly string[] = [],
): {
  readonly kept: readonly ConfigEntry[]
  readonly lost: boolean
} {
  let lost = false
  const kept = entries.flatMap((entry): readonly ConfigEntry[] => {
    const key = keyOf(entry)
    if (rewrites(entry, rewritten)) {
      lost = true
      return []
    }
    if (
      secretKeys.some((pattern) => pattern.test(key)) ||
      [secretValue, secretHeader].some((pattern) => pattern.test(entry.value ?? ''))
    ) {
      lost ||= !/^include|^core\.fsmonitor$/.test(key)
      return []
    }
    const clean = {
      ...entry,
      subsection: entry.subsection === undefined ? undefined : withoutUserinfo(entry.subsection),
      value: entry.value === undefined ? undefined : withoutUserinfo(entry.value),
    }
    lost ||= clean.subsection !== entry.subsection || clean.value !== entry.value
    return [clean]
  })
  return { kept, lost }
}

/** Whether git would read an address with one of these beginnings as another one because of a setting. The longest match counts, and for pushes any. */
function rewrites({ section, name, value }: ConfigEntry, beginnings: readonly string[]): boolean {
  if (section !== 'url' || value === undefined) return false
  if (name === 'insteadof') return beginnings.some((beginning) => value.startsWith(beginning))
  return (
    name === 'pushinsteadof' &&
    beginnings.some((beginning) => value.startsWith(beginning) || beginning.startsWith(value))
  )
}

/** Matches those names of remotes, branches and submodules that may be imported. */
const plainName = /^[A-Za-z0-9_\u0080-\uffff][A-Za-z0-9_./+@#\u0080-\uffff-]*$/

/**
 * Matches addresses whose transports only transfer objects, unlike `ext::` and others, which run programs. A host must not begin with a dash, because
 * ssh would read it as an option.
 */
const plainAddress =
  /^(?:(?:https?|ssh|git|file):\/\/(?!-)[^\s\0-\x1f\x7f]*|\.{0,2}\/[^\0-\x1f\x7f]*|(?:[A-Za-z0-9._][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?![:-])[^\0-\x1f\x7f]*)$/

const plainRef = /^\+?refs\/[^\0-\x20\x7f~^:?[\\]+(?::refs\/[^\0-\x20\x7f~^:?[\\]+)?$/

/**
 * Whether a setting that a command wrote may be imported into the host's config. Only a few settings may, none of which names a program or a
 * configuration file, and their values must be plain.
 */
export function isImportable({ section, subsection, name, value }: ConfigEntry): boolean {
  if (value === undefined) return false
  if (section === 'core' && subsection === undefined) {
    return /^sparsecheckout(?:cone)?$/.test(name) && /^(?:true|false)$/.test(value)
  }
  if (subsection === undefined || !plainName.test(subsection) || subsection.includes('..')) return false
  switch (`${section}.${name}`) {
    case 'branch.remote':
      return value === '.' || plainName.test(value)
    case 'branch.merge':
      return /^refs\//.test(value) && plainRef.test(value)
    case 'remote.url':
    case 'submodule.url':
      return plainAddress.test(value) && withoutUserinfo(value) === value
    case 'remote.fetch':
      return plainRef.test(value)
    case 'submodule.active':
      return /^(?:true|false)$/.test(value)
    default:
      return false
  }
}

/**
 * Whether a setting may stay in a repository that a command created. Only listed settings that can't make git run a program, such as those that `init`
 * and `clone` write, may stay, and those that may be imported into other repositories.
 */
export function isHarmless(entry: ConfigEntry): boolean {
  const key = keyOf(entry)
  const plain =
    /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|sharedrepository|compression|sparsecheckout|sparsecheckoutcone)$/.test(
      key,
    ) ||
    /^extensions\.(?:objectformat|partialclone|compatobjectformat|worktreeconfig)$/.test(key) ||
    /^user\.(?:name|email)$/.test(key) ||
    /^init\.defaultbranch$/.test(key) ||
    /^branch\..*\.(?:rebase|description|pushremote)$/s.test(key) ||
    /^remote\..*\.(?:tagopt|prune|mirror|promisor|partialclonefilter|push)$/s.test(key) ||
    /^submodule\..*\.(?:branch|active)$/s.test(key)
  if (plain) return !/[\0-\x08\x0b-\x1f]/.test(entry.value ?? '')
  if (entry.section === 'remote' && entry.name === 'pushurl') return plainAddress.test(entry.value ?? '')
  return isImportable(entry)
}
