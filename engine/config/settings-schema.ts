import * as z from 'zod'
import type { ApprovalMode } from '../../policies/index.ts'
import { settingsShape } from './settings/index.ts'

/** What a configuration file may say. Absent keys take the default that the table of settings names. */
export const ConfigFile = z.strictObject(settingsShape)

export type ConfigFile = z.infer<typeof ConfigFile>

/** The merged settings of files, profile, `-c` and flags. Only a flag can set the mode `bypass`. */
export type Settings = Omit<ConfigFile, 'approval_policy'> & { readonly approval_policy?: ApprovalMode | undefined }

/** Which repositories may bring configuration of their own: a table `projects."/path"` for each root. */
const projects = z
  .record(z.string().min(1), z.strictObject({ trust_level: z.enum(['trusted', 'untrusted']) }))
  .optional()

export type Projects = z.infer<typeof projects>

/** The user's file: settings, and who they are for. */
export const UserFile = ConfigFile.extend({
  /** The default profile without `-p`. Default: none. */
  profile: z.string().min(1).optional(),
  /** Named sets of settings, each a table `profiles.<name>`, laid over the rest of the file. */
  profiles: z.record(z.string().min(1), ConfigFile).optional(),
  projects,
})

/** The machine owner's file: others can only make its settings stricter. */
export const ManagedFile = ConfigFile.extend({ projects })
