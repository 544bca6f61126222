import * as z from 'zod'

// In a program that parses little and then exits, compiling a parser takes more time than it saves. Import this before any schema is created, because zod
// checks the setting then. The packages don't import it, because the setting applies to the whole process that embeds them.
z.config({ jitless: true })
