import * as z from 'zod'

/** The status of a step in a plan or an entry in a list. */
export const stepStatus = z.enum(['pending', 'in_progress', 'completed'])
