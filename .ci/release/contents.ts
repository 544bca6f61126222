/** Says what the released programs contain of others: a list for tools, and the texts of all licenses. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { run } from './run.ts'

/** Writes the bill of materials in CycloneDX's format: the packages in `dist/`, by what esbuild bundled, and the runtimes. */
export function writeBillOfMaterials(file: string, { tools }: { readonly tools: string }): void {
  const program = join(tools, 'node_modules/.bin/cyclonedx-esbuild')
  run(program, ['--output-reproducible', '--validate', '--output-file', file, 'dist/metafile.json'])
  const bill = JSON.parse(readFileSync(file, 'utf8')) as { components: object[] }
  for (const [name, version, purl] of [
    ['node', process.versions.node, `pkg:npm/node@${process.versions.node}`],
    ['bun', bunVersion(tools), `pkg:npm/bun@${bunVersion(tools)}`],
  ])
    bill.components.push({ type: 'platform', name, version, purl, 'bom-ref': purl })
  writeFileSync(file, `${JSON.stringify(bill, null, 1)}\n`)
}

/** Writes the licenses of everything that is in one of the released files: of the bundled packages, the runtimes, and Node's library libatomic. */
export function writeLicenses(file: string, { tools }: { readonly tools: string }): void {
  const [ofNode = ''] = globSync('node_modules/{,node/node_modules/}node-*/LICENSE')
  const texts = [
    readFileSync('dist/THIRD_PARTY_LICENSES', 'utf8'),
    `Node.js ${process.versions.node}, in the archives\n\n${readFileSync(ofNode, 'utf8')}`,
    `Bun ${bunVersion(tools)}, in apply-patch as a single file: MIT, and JavaScriptCore, which is part of it: LGPL-2
Sources: https://github.com/oven-sh/bun/tree/bun-v${bunVersion(tools)}, whose LICENSE.md says how to link it with another JavaScriptCore, and lists all
libraries that are part of it. The names of Bun's own environment variables were emptied in the copy that is used here.

${readFileSync('/usr/share/common-licenses/LGPL-2', 'utf8')}`,
    `libatomic, in the archives, an unchanged file of Debian's package libatomic1\n
${readFileSync('/usr/share/doc/libatomic1/copyright', 'utf8')}`,
  ]
  writeFileSync(file, texts.map((text) => `${text.trim()}\n`).join(`\n${'='.repeat(80)}\n\n`))
}

function bunVersion(tools: string): string {
  const { dependencies } = JSON.parse(readFileSync(join(tools, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return dependencies['@oven/bun-linux-x64'] ?? ''
}
