import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Architecture } from '../seccomp/syscalls.ts'

/**
 * Returns the helper's files in base64, each checked against the digest that was noted when it was built. The build does this once, and puts the files
 * into the programs and libraries; there, they are as safe as the code around them.
 */
export function preparedHelpers(): Readonly<Record<Architecture, string>> {
  const read = (name: string): Buffer => readFileSync(new URL(`bin/${name}`, import.meta.url))
  const noted = read('SHA256SUMS').toString().split('\n')
  const prepare = (name: string): string => {
    const bytes = read(name)
    if (noted.includes(`${hash('sha256', bytes)}  ${name}`)) return bytes.toString('base64')
    throw new Error(
      `sandbox/helper/bin/${name} is not the file whose digest SHA256SUMS notes: run npm run build:helper`,
    )
  }
  return { x64: prepare('helper-x64'), arm64: prepare('helper-arm64') }
}
