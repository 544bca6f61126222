/**
 * Makes `release/`: everything that somebody needs to use this version, with its checksums. It needs `dist/`, and no network but the registry of npm. Started
 * again, it makes the same files again.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'
import { version } from '../../engine/core/version.ts'
import { makeAgentFolder } from './agent-folder.ts'
import { writeBillOfMaterials, writeLicenses } from './contents.ts'
import { makeActions, makeGitLabComponent } from './for-ci.ts'
import { run } from './run.ts'
import { makeSingleFiles } from './single-files.ts'

const into = 'release'
const tools = join(import.meta.dirname, 'tools')
/** Where whoever publishes the release puts the files. */
const published =
  process.env['RELEASE_URL'] ?? `https://github.com/portcullis-dev/portcullis/releases/download/v${version}`
const work = mkdtempSync(join(tmpdir(), 'portcullis-release-'))

try {
  installTools()
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into)
  // `dist/` was just built.
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', into])
  makeSingleFiles({ tools, work, into })
  const archive = `portcullis-${version}-${process.platform}-${process.arch}`
  writeLicenses(join(into, 'THIRD_PARTY_LICENSES'), { tools })
  writeBillOfMaterials(join(into, 'sbom.cdx.json'), { tools })
  makeAgentFolder(archive, { work, into })
  makeActions(join(into, 'github-actions'))
  makeGitLabComponent(join(into, 'gitlab-component'), {
    url: `${published}/${archive}.tar.gz`,
    sha256: sha256(join(into, `${archive}.tar.gz`)),
  })
  for (const name of ['Dockerfile', 'FILES.md']) copyFileSync(join(import.meta.dirname, name), join(into, name))
  const files = readdirSync(into, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const names = files.map((entry) => relative(into, join(entry.parentPath, entry.name))).toSorted()
  writeFileSync(join(into, 'SHA256SUMS'), names.map((name) => `${sha256(join(into, name))}  ${name}\n`).join(''))
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Installs what is needed only here, unless that is already done. npm compares everything with the hashes in the lock file. */
function installTools(): void {
  const lock = sha256(join(tools, 'package-lock.json'))
  const done = join(tools, 'node_modules/.installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === lock) return
  // Without `--force`, npm refuses the packages for other systems.
  run('npm', ['ci', '--prefix', tools, '--force', '--ignore-scripts', '--no-audit', '--no-fund'])
  writeFileSync(done, lock)
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
