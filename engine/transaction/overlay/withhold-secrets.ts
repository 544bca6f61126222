import { chmodSync, lstatSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOfKey } from '../../core/changes/list-files.ts'
import { UserError } from '../../core/user-error.ts'
import { filesIn } from '../files-in.ts'
import { bytesOf, directoryOf } from '../path-keys.ts'
import { findSecretFiles } from '../secret-files.ts'
import type { PrivateView } from '../stored-view.ts'
import type { OverlayStorage } from './storage.ts'

/**
 * Takes the files with secrets out of mounted overlays. They stay in the trees below, and count as never shown. Also notes the trees' links.
 *
 * @returns their absolute paths
 * @throws UserError `sandboxUnavailable` if one of them can't be taken out
 */
export async function withholdSecrets({ views, overlays, state }: PrivateView): Promise<readonly string[]> {
  const found: string[] = []
  for (const [index, { path, source }] of views.entries()) {
    const storage = overlays[index]
    if (storage === undefined) continue
    const { files, links } = await filesIn(path)
    writeKeys(storage.links, links)
    if (state.shown === undefined) continue
    const secrets = [...(await findSecretFiles(path, [...files, ...links], state.shown))]
    writeKeys(storage.secrets, secrets)
    for (const key of secrets) {
      takeOut(source, key)
      found.push(join(path, pathOfKey(key)))
    }
  }
  return found
}

/** The keys of the files that were taken out of an overlay. */
export function readWithheld({ secrets }: OverlayStorage): ReadonlySet<string> {
  return new Set(readKeys(secrets))
}

/** The keys of the links that an overlay's tree had when the view was made. */
export function readLinks({ links }: OverlayStorage): readonly string[] {
  return readKeys(links)
}

function writeKeys(file: string, keys: readonly string[]): void {
  if (keys.length > 0) writeFileSync(file, JSON.stringify(keys), { mode: 0o600 })
}

function readKeys(file: string): readonly string[] {
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined
  return isThere ? (JSON.parse(readFileSync(file, 'utf8')) as readonly string[]) : []
}

function takeOut(merged: string, key: string): void {
  const directory = bytesOf(merged, directoryOf(key))
  const { mode, atimeMs, mtimeMs } = lstatSync(directory)
  try {
    if ((mode & 0o300) !== 0o300) chmodSync(directory, (mode & 0o7777) | 0o700)
    rmSync(bytesOf(merged, key))
    if ((mode & 0o300) !== 0o300) chmodSync(directory, mode & 0o7777)
    utimesSync(directory, atimeMs / 1000, mtimeMs / 1000)
  } catch (cause) {
    const path = pathOfKey(key)
    const message =
      `The run's private view can't be made: ${path} holds a secret and can't be left out of an overlay: ${(cause as Error).message}. ` +
      `Show it with --allow-read ${path}, or use --view=copy.`
    throw new UserError('sandboxUnavailable', message, { cause })
  }
}
