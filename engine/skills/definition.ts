import * as z from 'zod'
import { toolList } from './front-matter.ts'

const shared = {
  description: z.string().optional(),
  'allowed-tools': toolList.optional(),
  /** Whether only `allowed-tools` may be called while the model follows it. */
  restrict: z.boolean().optional(),
  model: z.string().min(1).optional(),
}

// Loose: front matter has fields of other programs, and none of them may loosen anything here.
/** The front matter of a skill's `SKILL.md`. */
export const SkillFields = z.looseObject({ ...shared, name: z.string().min(1).optional() })
/** The front matter of a command. */
export const CommandFields = z.looseObject({ ...shared, 'argument-hint': z.string().optional() })
/** The front matter of an agent. `tools` is what Claude Code calls its list. */
export const AgentFields = z.looseObject({ ...shared, name: z.string().min(1).optional(), tools: toolList.optional() })

/** A definition in Markdown: its purpose, its tools, and its text. */
export type Written = {
  readonly name: string
  readonly description: string
  /** Calls that its work needs, as permissions; for an agent, all that it may call. Undefined: whatever the run may. */
  readonly allowedTools: readonly string[] | undefined
  /** Whether nothing else may be called while the model follows it. */
  readonly restrict: boolean
  /** Undefined: the run's own. */
  readonly model: string | undefined
  /** The file. */
  readonly path: string
  readonly body: string
}

/** How to do one kind of work. The model knows its description, and reads the rest when it needs it. */
export type Skill = Written & { readonly kind: 'skill' }
/** A prompt with placeholders, which a person uses as `/name arguments`. */
export type Command = Written & { readonly kind: 'command'; readonly argumentHint: string | undefined }
/** A sub-agent with a system prompt of its own. */
export type AgentDefinition = Written & { readonly kind: 'agent' }

/** All definitions, by kind; the first of a name wins. */
export type Definitions = {
  readonly skills: readonly Skill[]
  readonly commands: readonly Command[]
  readonly agents: readonly AgentDefinition[]
  /** Definitions that can't be read, as sentences with `file:line`. */
  readonly faults: readonly string[]
}
