import * as z from 'zod'

/** How far a step of a plan or an entry of a list is. */
export const stepStatus = z.enum(['pending', 'in_progress', 'completed'])
