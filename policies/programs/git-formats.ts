const letters =
  /^[-+ ]?(?:[HhTtPpeEsfbBNdDSmaAn]|x00|x09|x0a|[ac][nNeElLdDrtiIshp]|g[dDnNeEs]|C[a-z]+|C\([a-z0-9# ,:]*\)|w\([0-9, ]*\)|[<>][<>]?\|?\([0-9a-z, ]*\))/
const fields = new Set(
  `refname objectname objecttype objectsize upstream push HEAD subject body contents authorname authoremail authordate committername committeremail
   committerdate creator creatordate taggername taggerdate tag describe symref worktreepath ahead-behind objectmode path trailers decorate`.split(
    /\s+/,
  ),
)

function isPlaceholder(text: string): boolean {
  // A format that shows the remote of a branch may show a URL with a password (gitremote-helpers(7), branch.NAME.remote).
  if (/^\([a-z]+:remotename/.test(text)) return false
  return letters.test(text) || fields.has(/^\(([A-Za-z-]+)(?::[\w,= -]*)?\)/.exec(text)?.[1] ?? '')
}

/**
 * Whether a format only shows git's data. `%G` and similar placeholders verify signatures: git then runs the program that the repository's
 * configuration names. If the name of a format isn't built into git, the format comes from that configuration, so it may contain anything.
 */
function isPlainFormat(format: string | undefined): boolean {
  if (format === undefined) return false
  if (/^(?:oneline|short|medium|full|fuller|reference|email|raw|mboxrd|)$/.test(format)) return true
  const [, ...placeholders] = format.replaceAll('%%', '').split('%')
  return format.includes('%') && placeholders.every(isPlaceholder)
}

/** Keys by which references can be sorted, in addition to `fields`, the names that formats may contain (git-for-each-ref(1)). */
const sortedBy = new Set('numparent parent tree type object deltabase raw rest head'.split(' '))

function isPlainKey(key: string): boolean {
  const [field = '', ...rest] = key.replace(/^-?\*?/, '').split(':')
  if (field === 'version' || field === 'v') return isPlainKey(rest.join(':'))
  return (fields.has(field) || sortedBy.has(field)) && !/remotename|remoteref/.test(key)
}

/**
 * Whether the value of an option only makes git show its own data. This concerns options that choose what is shown or how it is ordered: a format, a
 * sort key, or a key for grouping commits. Git verifies signatures if any of these values refers to them, even just to sort.
 *
 * @param value undefined if the command line doesn't spell it out
 */
export function isPlainShape(option: string, value: string | undefined): boolean {
  switch (option) {
    case '--format':
    case '--pretty':
      return isPlainFormat(value)
    case '--sort':
      return value?.split(',').every(isPlainKey) ?? false
    case '--group':
      if (value === undefined) return false
      return value.includes('%') || value.startsWith('format:')
        ? isPlainFormat(value.replace(/^t?format:/, ''))
        : /^(?:author|committer|trailer:[\w-]+)$/.test(value)
    default:
      return true
  }
}
