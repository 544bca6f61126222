import * as z from 'zod'

/** The status of a step in a plan, or of an entry in the task list. */
export const stepStatus = z.enum(['pending', 'in_progress', 'completed'])
