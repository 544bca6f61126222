import type { Metafile } from 'esbuild'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Manifest = { readonly name: string; readonly version: string; readonly license: string }

/** Texts of licenses that are missing in the packages themselves. Each comes from the repository of the package, or from the license that the package names. */
const given = join(import.meta.dirname, 'licenses')

/**
 * Writes what the built programs and the library contain of others: `bundled.json` names the packages, `THIRD_PARTY_LICENSES` has the texts of their licenses, and
 * `metafile.json`, which is not published, says which file came from where.
 */
export function writeBundled(place: string, metafiles: readonly Metafile[]): void {
  const inputs = onlyFiles(Object.assign({}, ...metafiles.map((one) => one.inputs)) as Metafile['inputs'])
  for (const input of Object.values(inputs)) input.imports = input.imports.filter(({ path }) => isFile(path))
  const outputs = Object.assign({}, ...metafiles.map((one) => one.outputs)) as Metafile['outputs']
  for (const output of Object.values(outputs)) output.inputs = onlyFiles(output.inputs)
  writeFileSync(join(place, 'metafile.json'), JSON.stringify({ inputs, outputs }))
  const files = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput === 0 ? [] : [file])),
  )
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  const packages = [...folders].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    return { name, version, license, text: licenseOf(folder, name) }
  })
  writeFileSync(
    join(place, 'bundled.json'),
    JSON.stringify(
      packages.map(({ text: _, ...rest }) => rest),
      null,
      1,
    ),
  )
  const texts = packages.map(
    ({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text.trim()}\n`,
  )
  writeFileSync(join(place, 'THIRD_PARTY_LICENSES'), texts.join(`\n${'-'.repeat(80)}\n\n`))
}

/** Whether a path of a metafile is that of a file. All others are modules that a plugin of ours made up, and begin with its name. */
const isFile = (path: string): boolean => !/^[a-z-]+:/.test(path)

function onlyFiles<Value>(values: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([path]) => isFile(path)))
}

function licenseOf(folder: string, name: string): string {
  const places = [folder, given]
  for (const place of places) {
    const wanted = place === given ? `^${name.replace('/', '-')}\\.txt$` : '^(?:un)?licen[sc]e|^copying|^notice'
    const found = readdirSync(place).filter((file) => new RegExp(wanted, 'i').test(file))
    if (found.length > 0) return found.map((file) => readFileSync(join(place, file), 'utf8').trim()).join('\n\n')
  }
  throw new Error(
    `${folder} is bundled, but contains no license. Put the text of its license into ${given}/${name.replace('/', '-')}.txt`,
  )
}
