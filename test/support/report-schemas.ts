import { readFileSync } from 'node:fs'
import { validateXML } from 'xmllint-wasm'
import { compileJsonSchema, type Validate } from '../../engine/core/json-schema.ts'

const read = (name: string): string => readFileSync(new URL(`../../fixtures/schemas/${name}`, import.meta.url), 'utf8')

/** A problem in a report, according to the schema of the report's format. */
export type Fault = string

const sarifSchema = compiled({
  // One of the schema's patterns has a bracket that must be escaped in today's regular expressions.
  ...(JSON.parse(read('sarif-2.1.0.json').replaceAll('{2}]?$', String.raw`{2}\\]?$`)) as object),
  // The schema is written in draft 4 of JSON Schema. The keywords that it uses mean the same in draft 7, except the keyword for the schema's own
  // address.
  ...{ $schema: 'http://json-schema.org/draft-07/schema#', id: undefined },
})
const codeQualitySchema = compiled(JSON.parse(read('gitlab-code-quality.json')) as object)

/** Validates a text as SARIF 2.1.0, and its addresses (format `uri-reference`) according to RFC 3986. */
export function faultsInSarif(text: string): readonly Fault[] {
  const log = parsed(text)
  if ('fault' in log) return [log.fault]
  const addresses = [...text.matchAll(/"uri": ("(?:[^"\\]|\\.)*")/g)].map(([, uri = '""']) => JSON.parse(uri) as string)
  const wrong = addresses.filter((uri) => !/^(?:[\w.~!$&'()*+,;=:@/?#-]|%[0-9A-F]{2})*$/.test(uri))
  return [...sarifSchema(log.value), ...wrong.map((uri) => `not an address: ${JSON.stringify(uri)}`)]
}

/** Validates a text as GitLab's code quality report. No fingerprint may occur twice, because GitLab merges entries with the same fingerprint. */
export function faultsInCodeQuality(text: string): readonly Fault[] {
  const list = parsed(text)
  if ('fault' in list) return [list.fault]
  const faults = codeQualitySchema(list.value)
  if (faults.length > 0) return faults
  const prints = (list.value as readonly { readonly fingerprint: string }[]).map(({ fingerprint }) => fingerprint)
  return new Set(prints).size === prints.length ? [] : ['a fingerprint is there twice']
}

/** Validates texts as JUnit XML, in one run of xmllint. */
export async function faultsInJunit(...texts: readonly string[]): Promise<readonly Fault[]> {
  const { errors, valid, rawOutput } = await validateXML({
    xml: texts.map((contents, at) => ({ fileName: `${at}.xml`, contents })),
    schema: read('junit.xsd'),
  })
  return valid ? [] : errors.length > 0 ? errors.map(({ rawMessage }) => rawMessage) : [rawOutput]
}

function compiled(schema: object): Validate {
  const validate = compileJsonSchema(JSON.parse(JSON.stringify(schema)))
  if (typeof validate !== 'function') throw new Error(validate.error)
  return validate
}

function parsed(text: string): { readonly value: unknown } | { readonly fault: Fault } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { fault: String(error) }
  }
}
