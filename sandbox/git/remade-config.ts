/** The configuration of a repository that was made anew: that of `git init`, and remotes. */
export function configOf({
  oidBytes,
  remotes,
}: {
  readonly oidBytes: number
  readonly remotes: readonly { readonly name: string; readonly url: string }[]
}): string {
  const isSha256 = oidBytes === 32
  return [
    '[core]',
    `\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
    ...['\tfilemode = true', '\tbare = false', '\tlogallrefupdates = true'],
    ...(isSha256 ? ['[extensions]', '\tobjectformat = sha256'] : []),
    ...remotes.flatMap(({ name, url }) => [
      `[remote "${name}"]`,
      `\turl = ${url}`,
      `\tfetch = +refs/heads/*:refs/remotes/${name}/*`,
    ]),
    '',
  ].join('\n')
}

/**
 * Whether a URL may be that of a remote: one by which git reaches another machine without starting a program that the URL names.
 *
 * @internal
 */
export function isRemoteUrl(url: string): boolean {
  if (!/^[\w.~:/@%+=,-]+$/.test(url)) return false
  const [host = '', path = '', ...others] = url.split(':')
  const isShort = others.length === 0 && path !== '' && !path.startsWith('//') && /^\w[\w.@-]*$/.test(host)
  return isShort || /^(?:https?|ssh|git):\/\/[^/-]/.test(url)
}
