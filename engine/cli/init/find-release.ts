import { UserError } from '../../core/user-error.ts'
import { version } from '../../core/version.ts'

/** The archive of a release, for workflows that download it. */
export type ReleaseArchive = { readonly url: string; readonly sha256: string }

const patienceMs = 30_000

/**
 * Reads the hash of the archive for linux-x64 of this version from the list in a release's folder.
 *
 * @throws UserError `usage` if the list can't be read, or doesn't name the archive
 */
export async function findRelease(folder: string): Promise<ReleaseArchive> {
  const name = `portcullis-${version}-linux-x64.tar.gz`
  const [list, url] = ['SHA256SUMS', name].map((file) => `${folder.replace(/\/$/, '')}/${file}`)
  const text = await read(list ?? '')
  const line = text.split('\n').find((each) => each.endsWith(`  ${name}`))
  const sha256 = line?.slice(0, 64) ?? ''
  if (!/^[0-9a-f]{64}$/.test(sha256))
    throw new UserError('usage', `--release: ${list} names no ${name}. Nothing was written.`)
  return { url: url ?? '', sha256 }
}

async function read(url: string): Promise<string> {
  const cannot = (why: string): UserError =>
    new UserError(
      'usage',
      `--release: ${url} can't be read: ${why}. Expected the address of the folder with the files of a release. Nothing was written.`,
    )
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw cannot('it is not an http or https URL')
  const answer = await fetch(url, { signal: AbortSignal.timeout(patienceMs) }).catch((error: unknown) => {
    throw cannot(String(error instanceof Error && error.cause instanceof Error ? error.cause.message : error))
  })
  if (!answer.ok) throw cannot(`the server answered ${answer.status}`)
  return answer.text()
}
