import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'

const sdk = new URL('../node_modules/@agentclientprotocol/sdk/', import.meta.url)

/** Why the clients of the protocol can't be used here; undefined if they can. */
export function whyNoClients(): string | undefined {
  return existsSync(sdk)
    ? undefined
    : '@agentclientprotocol/sdk and acpx are not installed in test/doors (sh .ci/ensure-doors does that)'
}

type Definition = { readonly 'x-method'?: string; readonly 'x-side'?: string }

let definitions: Readonly<Record<string, Definition>> | undefined
let ajv: Ajv2020 | undefined

/** Checks a value as a definition of the protocol's JSON Schema says. Returns what is wrong with it; undefined if nothing is. */
function fault(name: string, value: unknown): string | undefined {
  if (ajv === undefined) {
    const schema = JSON.parse(readFileSync(new URL('schema/v1/schema.json', sdk), 'utf8')) as {
      readonly $defs: Readonly<Record<string, Definition>>
    }
    definitions = schema.$defs
    ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(schema, 'acp')
  }
  const isValid = ajv.validate({ $ref: `acp#/$defs/${name}` }, value)
  return isValid ? undefined : `${name}: ${ajv.errorsText()}: ${JSON.stringify(value).slice(0, 600)}`
}

/** The definition of a method's parameters or result. `side`: who serves the method. */
function definitionOf(method: string, side: string, ending: 'Request' | 'Response' | 'Notification'): string {
  fault('RequestId', 1)
  const found = Object.entries(definitions ?? {}).find(
    ([name, each]) => each['x-method'] === method && each['x-side'] === side && name.endsWith(ending),
  )
  if (found === undefined) throw new Error(`the protocol has no ${ending} of ${method} that the ${side} serves`)
  return found[0]
}

/** A message of JSON-RPC. */
export type Message = {
  readonly jsonrpc?: string
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

/**
 * Checks a line that an agent wrote against the JSON Schema of the protocol.
 *
 * @param methodOf the method of the client's request with an id
 * @returns what is wrong with it; undefined if nothing is
 */
export function faultOfLine(line: string, methodOf: (id: unknown) => string | undefined): string | undefined {
  let message: Message
  try {
    message = JSON.parse(line) as Message
  } catch (error) {
    return `${(error as Error).message}: ${line.slice(0, 200)}`
  }
  const { id, method, params, result, error } = message
  if (message.jsonrpc !== '2.0') return `no JSON-RPC: ${line.slice(0, 200)}`
  // Methods of JSON-RPC itself, which either side may use.
  if (method === '$/cancel_request') return fault('CancelRequestNotification', params)
  if (method !== undefined)
    return id === undefined
      ? (fault('AgentNotification', message) ?? fault(definitionOf(method, 'client', 'Notification'), params))
      : (fault('AgentRequest', message) ?? fault(definitionOf(method, 'client', 'Request'), params))
  if (error !== undefined) return fault('AgentResponse', message) ?? fault('Error', error)
  const asked = methodOf(id)
  if (asked === undefined) return `an answer to no request: ${line.slice(0, 200)}`
  return fault('AgentResponse', message) ?? fault(definitionOf(asked, 'agent', 'Response'), result)
}
