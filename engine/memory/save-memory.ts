import * as z from 'zod'
import { planWrite, renderFailure } from '../../apply-patch/index.ts'
import { shownPath, shownText, sourcePath, type View } from '../../sandbox/index.ts'
import { addNote } from './add-note.ts'
import { findImports } from './find-imports.ts'
import { findMemoryFile } from './memory-file.ts'
import type { MemoryPlaces } from './read-memory.ts'
import { commitChanges, isRefusal } from '../tools/commit-changes.ts'
import { defineTool } from '../tools/define-tool.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import { staleReason } from '../tools/write-text.ts'

const saveMemoryName = 'save_memory'

/** Creates the tool that adds a note to the instructions of later runs. Every note needs approval unless a permission allows it. */
export function saveMemory(places: MemoryPlaces): Tool {
  return defineTool({
    name: saveMemoryName,
    claudeNames: ['Edit'],
    description:
      'Adds one line to the instructions that you are given in every later run (AGENTS.md), after asking the user. Use it only for what ' +
      'the user wants remembered or what everyone who works here must know, not for notes on this task.',
    deferred: true,
    guarded: true,
    ownItems: true,
    searchHint: 'remember forever persist preference instruction note AGENTS.md CLAUDE.md',
    input: z.object({
      fact: z.string().trim().min(1).max(500).describe('What to remember, in one line.'),
      section: z.string().trim().min(1).max(80).default('Notes').describe('The heading to put it under.'),
      scope: z
        .enum(['project', 'user'])
        .default('project')
        .describe('"project": for everyone who works in this repository. "user": for this user, in every repository.'),
    }),
    validate: ({ fact, section }, { state }) => {
      if (/\p{Cc}/u.test(fact + section)) return `${saveMemoryName}: fact and section must each be one line of text.`
      if (section.startsWith('#')) return `${saveMemoryName}: give the section's heading without the #.`
      if (findImports(fact).length > 0) {
        return `${saveMemoryName}: a word that begins with @ would be read as a file to import. Put it in backticks.`
      }
      return state.mask(fact) === fact
        ? undefined
        : `${saveMemoryName}: the fact contains a secret. Secrets are not saved in files.`
    },
    run: async ({ fact, section, scope }, context) => {
      const started = performance.now()
      const { views } = context.sandbox.policy
      const file = findMemoryFile(scope, placesIn(places, views))
      if ('problem' in file) return { ok: false, output: shownText(file.problem, views) }
      const added = addNote(file.text ?? '', section, fact)
      if ('problem' in added)
        return { ok: false, output: `Nothing can be added to ${shownPath(file.path, views)}: ${added.problem}.` }
      if ('same' in added)
        return { ok: true, output: `${shownPath(file.path, views)} already says that; nothing was changed.` }
      return (
        (await write({ ...file, content: Buffer.from(added.text) }, started, context)) ?? {
          ok: true,
          output: `Saved in ${shownPath(file.path, views)}, under "${section}". Later runs will see it.`,
        }
      )
    },
  })
}

/** If the run works in a private view of the workspace, maps the repository's paths into that view. A saved note is then one of the changes in the view. */
function placesIn(places: MemoryPlaces, views: readonly View[]): MemoryPlaces {
  return { ...places, root: sourcePath(places.root, views), workspace: sourcePath(places.workspace, views) }
}

/** Writes the instruction file with the new note. Returns why that failed; undefined on success. */
async function write(
  file: { readonly path: string; readonly root: string; readonly text: string | undefined; readonly content: Buffer },
  started: number,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const { path, root, content } = file
  try {
    const changeSet = await planWrite({ path, content }, { root, signal: context.signal })
    const before = changeSet.changes[0]?.before
    const held = before?.type === 'file' ? before.bytes.toString('utf8') : undefined
    if (held !== file.text) return { ok: false, output: staleReason(shownPath(path, context.sandbox.policy.views)) }
    return (await commitChanges(changeSet, context, started, { what: 'instructions' })).refused
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ok: false, output: shownText(renderFailure(error), context.sandbox.policy.views) }
  }
}
